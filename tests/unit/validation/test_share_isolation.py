"""QM014: what must fire and what must not."""

from __future__ import annotations

from typing import Any

import pytest

from quota_scheduler.share_isolation import check_isolation

QUEUE = "arn:aws:batch:eu-west-1:111111111111:job-queue/Q"
VISION, SPEECH = f"{QUEUE}/quota-share/vision", f"{QUEUE}/quota-share/speech"
SHARES = [VISION, SPEECH]
JOBS = "arn:aws:batch:eu-west-1:111111111111:service-job/*"
SUBMIT = "batch:SubmitServiceJob"
ANY_QUEUE = "arn:aws:batch:*:*:job-queue/*"
OWN: dict[str, Any] = {"Effect": "Allow", "Action": SUBMIT, "Resource": [QUEUE, VISION, JOBS]}


def allow(action: Any, resource: Any, **more: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": action, "Resource": resource, **more}


def rules(statements: list[dict[str, Any]], shares: list[str] = SHARES) -> list[int]:
    found = list(check_isolation(statements, shares))
    assert {finding.rule for _, finding in found} <= {"QM014"}
    return [index for index, _ in found]


MUST_FIRE: dict[str, list[dict[str, Any]]] = {
    "everything": [allow("*", "*")],
    "all of Batch": [allow("batch:*", "*")],
    "all of Batch in one of several actions": [allow(["s3:GetObject", "batch:*"], ["*"])],
    "action by prefix, in another case": [allow("BATCH:submit*", "*")],
    "every queue": [allow(SUBMIT, ANY_QUEUE)],
    "queue by prefix": [allow(SUBMIT, f"{QUEUE}*")],
    "queue by question mark": [allow(SUBMIT, QUEUE[:-1] + "?/quota-share/*")],
    "every share of the queue": [allow(SUBMIT, [QUEUE, f"{QUEUE}/quota-share/*", JOBS])],
    "shares that begin alike": [allow(SUBMIT, f"{QUEUE}/*s*")],
    "own share named beside a queue wildcard": [OWN, allow(SUBMIT, f"{QUEUE}*")],
    "every ARN of the account": [allow("batch:*", "arn:aws:batch:eu-west-1:111111111111:*")],
    "every ARN of the service": [allow("batch:*", "arn:aws:batch:*")],
    "all but one queue": [{"Effect": "Allow", "Action": SUBMIT, "NotResource": f"{QUEUE}2*"}],
    "all but service jobs": [{"Effect": "Allow", "Action": "batch:*", "NotResource": JOBS}],
    "all actions but some": [{"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"}],
    "only the priority is limited": [
        allow(SUBMIT, "*", Condition={"NumericLessThanEquals": {"batch:SchedulingPriority": 10}})
    ],
    "fair-share identifier doesn't name a quota share": [
        allow(SUBMIT, "*", Condition={"StringEquals": {"batch:ShareIdentifier": "vision"}})
    ],
    "a share without the tag is open": [
        allow(SUBMIT, "*", Condition={"StringEqualsIfExists": {"aws:ResourceTag/team": "vision"}})
    ],
    "changing shares by a queue wildcard": [allow("batch:UpdateQuotaShare", f"{QUEUE}*")],
    "deleting every share": [allow("batch:DeleteQuotaShare", ANY_QUEUE)],
    "denied for another action": [
        allow(SUBMIT, "*"),
        {"Effect": "Deny", "Action": "batch:TerminateServiceJob", "Resource": "*"},
    ],
    "denied under a condition": [
        allow(SUBMIT, "*"),
        {"Effect": "Deny", "Action": "*", "Resource": "*", "Condition": {"Bool": {"aws:ViaAWSService": "false"}}},
    ],
    "queues that are declared elsewhere, by prefix": [allow(SUBMIT, f"{QUEUE}-other*")],
    "all but this queue": [{"Effect": "Allow", "Action": SUBMIT, "NotResource": f"{QUEUE}*"}],
    "account known at deployment": [allow(SUBMIT, "arn:aws:batch:⟦AWS.Region⟧:⟦AWS.AccountId⟧:job-queue/*")],
}

MUST_NOT_FIRE: dict[str, list[dict[str, Any]]] = {
    "what grant_submit writes": [OWN],
    "two shares by name": [OWN, allow(SUBMIT, [QUEUE, SPEECH, JOBS])],
    "any service job": [allow(SUBMIT, JOBS)],
    "container jobs": [allow("batch:SubmitJob", ANY_QUEUE)],
    "reading every share": [allow(["batch:Describe*", "batch:List*", "batch:GetJobQueueSnapshot"], "*")],
    "what grant_administer writes": [
        allow(["batch:CreateQuotaShare", "batch:UpdateQuotaShare", "batch:DeleteQuotaShare"], f"{QUEUE}/quota-share/*"),
        allow(["batch:UpdateJobQueue", "batch:CreateQuotaShare"], QUEUE),
    ],
    "all of Batch on another queue": [allow("batch:*", f"{QUEUE}-other*")],
    "another service": [allow("*", "arn:aws:s3:::*")],
    "another Region": [allow("batch:*", "arn:aws:batch:us-east-1:111111111111:*")],
    "another account": [allow("batch:*", "arn:aws:batch:eu-west-1:222222222222:*")],
    "all actions but Batch's": [{"Effect": "Allow", "NotAction": "batch:*", "Resource": "*"}],
    "all of Batch but on this queue": [{"Effect": "Allow", "Action": "batch:*", "NotResource": f"{QUEUE}*"}],
    "others' shares are denied": [
        OWN,
        allow(SUBMIT, "*"),
        {"Effect": "Deny", "Action": SUBMIT, "NotResource": [QUEUE, VISION, JOBS]},
    ],
    "the tag of the share decides": [allow(SUBMIT, "*", Condition={"StringEquals": {"aws:ResourceTag/team": "v"}})],
    "own share named, and reached by wildcard": [OWN, allow(SUBMIT, f"{QUEUE}/quota-share/vis*")],
    "one share by wildcard, none by name": [allow(SUBMIT, f"{QUEUE}/quota-share/vis*")],
    "refusal": [{"Effect": "Deny", "Action": "batch:*", "Resource": "*"}],
    "nothing": [{"Effect": "Allow"}],
}


@pytest.mark.parametrize("statements", MUST_FIRE.values(), ids=MUST_FIRE)
def test_must_fire(statements: list[dict[str, Any]]) -> None:
    assert len(rules(statements)) == 1


@pytest.mark.parametrize("statements", MUST_NOT_FIRE.values(), ids=MUST_NOT_FIRE)
def test_must_not_fire(statements: list[dict[str, Any]]) -> None:
    assert rules(statements) == []


@pytest.mark.parametrize(
    ("resource", "action", "fires"),
    [
        (ANY_QUEUE, SUBMIT, True),
        (f"{QUEUE}*", SUBMIT, True),
        (f"{QUEUE}/quota-share/*", SUBMIT, True),
        ("*", "batch:Submit*", True),
        ("*", "batch:*", False),
        (f"{QUEUE}/quota-share/vision", SUBMIT, False),
        (f"{QUEUE}/quota-share/vision-*", SUBMIT, False),
        ("arn:aws:batch:*:*:job-queue/*/quota-share/vision", SUBMIT, False),
        (JOBS, SUBMIT, False),
    ],
)
def test_shares_that_are_declared_elsewhere(resource: str, action: str, fires: bool) -> None:
    """Without any share in sight, only a statement that speaks of service jobs itself is told."""
    assert bool(rules([allow(action, resource)], [])) is fires


def test_message_says_what_is_opened_and_how_to_mend_it() -> None:
    ((index, finding),) = check_isolation([OWN, allow(SUBMIT, f"{QUEUE}*")], SHARES)
    assert index == 1
    for part in (f"{QUEUE}*", "speech", SUBMIT, "without a wildcard"):
        assert part in finding.message
    assert "vision" not in finding.message


def test_one_share_only_has_no_other_team() -> None:
    assert rules([allow("batch:*", "*")], [VISION]) == []
    assert rules([allow("batch:*", "*")], [VISION, SPEECH]) == [0]

"""Rules over the whole policy: errors fail the synthesis, warnings are told and can be acknowledged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Annotations, Match

from constructs_qm import (
    QuotaManagedQueue,
    QuotaShare,
    ResourceSharing,
    ServiceEnvironment,
    TrainingJobQueue,
    TrainingJobQueueBase,
)

if TYPE_CHECKING:
    from collections.abc import Callable

G5, P4 = "ml.g5.xlarge", "ml.p4d.24xlarge"
QUEUE_ARN = "arn:aws:batch:us-east-1:123456789012:job-queue/Q"
LEND, RESERVE = ResourceSharing.lend(), ResourceSharing.reserve()


def add(queue: TrainingJobQueueBase, **shares: tuple[dict[str, int], ResourceSharing]) -> None:
    for name, (capacity, sharing) in shares.items():
        queue.add_quota_share(name, capacity=capacity, sharing=sharing)


def two_of_one_name(queue: QuotaManagedQueue) -> None:
    for id in ("First", "Second"):
        queue.add_quota_share(id, quota_share_name="vision", capacity={G5: 1}, sharing=LEND)


def twenty_one(queue: QuotaManagedQueue) -> None:
    for number in range(21):
        queue.add_quota_share(f"S{number}", capacity={G5: 1}, sharing=LEND)


ERRORS: list[tuple[Callable[[QuotaManagedQueue], None], str]] = [
    (two_of_one_name, r"2 quota shares are called vision.*\[QM004\]"),
    (twenty_one, r"21 quota shares in one job queue: at most 20.*\[QM004\]"),
    (lambda q: add(q, A=({P4: 1}, LEND)), rf"shares\.A.*no {P4}: use one of {G5}.*\[QM005\]"),
    (lambda q: add(q, A=({G5: 4}, LEND)), r"capacity limit 4 of ml.g5.xlarge .*environment's 3.*\[QM005\]"),
]

WARNINGS: list[tuple[Callable[[QuotaManagedQueue], None], list[str]]] = [
    (lambda q: add(q, A=({G5: 2}, LEND), B=({G5: 1}, RESERVE)), []),
    (lambda q: add(q, A=({G5: 2}, LEND), B=({G5: 2}, LEND)), ["QM009"]),
    (lambda q: add(q, A=({G5: 2}, LEND)), ["QM010"]),
    (lambda q: add(q, A=({G5: 2}, ResourceSharing.lend_and_borrow()), B=({G5: 1}, RESERVE)), ["QM011"]),
    (
        lambda q: add(q, A=({G5: 2}, ResourceSharing.lend_and_borrow(limit_percent=100)), B=({G5: 1}, LEND)),
        ["QM012"],
    ),
    (lambda q: None, ["QM013"]),
]


@pytest.mark.parametrize(("fill", "message"), ERRORS)
def test_error_fails_synthesis(
    app: cdk.App, stack: cdk.Stack, fill: Callable[[QuotaManagedQueue], None], message: str
) -> None:
    fill(QuotaManagedQueue(stack, "Training", capacity={G5: 3}))
    with pytest.raises(RuntimeError, match=rf"\[Stack/Training\] .*{message}"):
        app.synth()


@pytest.mark.parametrize(("fill", "rules"), WARNINGS)
def test_warning_is_told_on_the_queue(
    stack: cdk.Stack, fill: Callable[[QuotaManagedQueue], None], rules: list[str]
) -> None:
    fill(QuotaManagedQueue(stack, "Training", capacity={G5: 3}))
    warnings = Annotations.from_stack(stack).find_warning("/Stack/Training", Match.any_value())
    assert [str(w.entry.data).split("[")[1].rstrip("] ") for w in warnings] == rules


def test_queue_without_time_limits_is_warned_about(stack: cdk.Stack) -> None:
    queue = QuotaManagedQueue(stack, "Training", capacity={G5: 1}, time_limits=())
    add(queue, A=({G5: 1}, LEND))
    Annotations.from_stack(stack).has_warning(
        "/Stack/Training", Match.string_like_regexp(r"no time limit for MISCONFIGURATION:.*QM013")
    )


def test_acknowledged_warning_is_silent(stack: cdk.Stack) -> None:
    queue = QuotaManagedQueue(stack, "Training", capacity={G5: 3})
    add(queue, A=({G5: 2}, LEND))
    cdk.Validations.of(queue).acknowledge(cdk.Acknowledgment(id="constructs-qm:QM010", reason="room to grow"))
    assert Annotations.from_stack(stack).find_warning("*", Match.any_value()) == []


def test_shares_of_another_stack_count(app: cdk.App, stack: cdk.Stack) -> None:
    queue = QuotaManagedQueue(stack, "Training", capacity={G5: 1})
    team = cdk.Stack(app, "Team")
    share: dict[str, Any] = {"job_queue": queue, "capacity": {G5: 2}, "sharing": LEND}
    QuotaShare(team, "Vision", quota_share_name="vision", **share)
    with pytest.raises(RuntimeError, match=r"\[Stack/Training\] shares\.vision.*QM005"):
        app.synth()


class TestImportedQueue:
    """Shares elsewhere are unknown, so only what no further share can mend is told."""

    @pytest.fixture
    def imported(self, stack: cdk.Stack) -> TrainingJobQueueBase:
        environment = ServiceEnvironment.from_service_environment_attributes(
            stack,
            "Environment",
            service_environment_arn="arn:aws:batch:us-east-1:123456789012:service-environment/E",
            capacity={G5: 3},
        )
        return TrainingJobQueue.from_training_job_queue_attributes(
            stack, "Training", job_queue_arn=QUEUE_ARN, service_environment=environment
        )

    def test_error(self, app: cdk.App, imported: TrainingJobQueueBase) -> None:
        add(imported, A=({G5: 4}, LEND))
        with pytest.raises(RuntimeError, match=r"\[Stack/Training\] shares\.A.*QM005"):
            app.synth()

    def test_no_warning(self, stack: cdk.Stack, imported: TrainingJobQueueBase) -> None:
        add(imported, A=({G5: 1}, ResourceSharing.lend_and_borrow()))
        assert Annotations.from_stack(stack).find_warning("*", Match.any_value()) == []

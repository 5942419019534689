"""Deployment files: form, inheritance, places of errors, schema, import and export."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
import yaml

from constructs_qm.deployment.export import export_queue
from constructs_qm.deployment.models import Deployment
from constructs_qm.deployment.reader import declare_deployment, parse_deployment, read_deployment
from constructs_qm.deployment.sample import import_sample
from constructs_qm.deployment.schema import deployment_schema
from constructs_qm.validation.checks import check
from constructs_qm.validation.declared import Declarations
from constructs_qm.validation.document import Document
from constructs_qm.validation.form_error import FormError
from constructs_qm.validation.inputs import read_input
from constructs_qm.validation.report_formats import as_text
from constructs_qm.validation.report_rows import rows_of, rows_of_form
from quota_scheduler import DocumentError
from quota_scheduler.rule_catalogue import RULES as RULE_TEXTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "quota.yaml"
LIMIT = "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED"

FILE = """\
defaults:
  share: {strategy: LEND, inSharePreemption: true}
  queue:
    timeLimits: {MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED: 600}
    alarms: {failedJobs: false, preemptedJobs: {threshold: 5}}
teams:
  a:
    account: "111111111111"
    defaults: {queue: {alarms: {topic: "arn:aws:sns:eu-west-1:111111111111:t"}}}
    regions:
      eu-west-1:
        queues:
          - name: training
            environment: {ml.g5.xlarge: 4}
            shares:
              - {name: vision, limits: {ml.g5.xlarge: 2}, strategy: LEND_AND_BORROW, borrowLimit: 50}
              - {name: speech, limits: {ml.g5.xlarge: 2}}
"""


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    def write_file(text: str) -> Path:
        path = tmp_path / "quota.yaml"
        path.write_text(text)
        return path

    return write_file


def findings(path: Path) -> list[tuple[str, str, int | None, int | None]]:
    declared = declare_deployment(path, read_deployment(path))
    rows = rows_of(check(Declarations(queues=declared)))
    return [(row.rule, row.path, row.line, row.column) for row in rows]


def test_inheritance(write: Callable[[str], Path]) -> None:
    ((team, region, index, queue),) = read_deployment(write(FILE)).queues()
    assert (team, region, index) == ("a", "eu-west-1", 0)
    vision, speech = queue.shares
    assert (vision.strategy, vision.borrow_limit, vision.in_share_preemption) == ("LEND_AND_BORROW", 50, True)
    assert (speech.strategy, speech.borrow_limit) == ("LEND", None)
    assert queue.time_limits == {LIMIT: 600}
    assert queue.alarms is not None
    assert queue.alarms.topic == "arn:aws:sns:eu-west-1:111111111111:t"
    assert queue.alarms.failed_jobs is False
    assert queue.alarms.preempted_jobs
    assert queue.alarms.preempted_jobs.threshold == 5


@pytest.mark.parametrize(("strategy", "expected"), [("LEND_AND_BORROW", 80), ("LEND", None), ("RESERVE", None)])
def test_borrow_limit_is_inherited_by_shares_that_borrow(
    write: Callable[[str], Path], strategy: str, expected: int | None
) -> None:
    text = FILE.replace("share: {strategy: LEND,", "share: {borrowLimit: 80,").replace(", borrowLimit: 50", "")
    ((*_, queue),) = read_deployment(write(text.replace("LEND_AND_BORROW}", f"{strategy}}}"))).queues()
    assert queue.shares[0].borrow_limit == expected


def test_file_without_fault_but_a_time_limit(write: Callable[[str], Path]) -> None:
    path = "a/eu-west-1/training"
    assert findings(write(FILE)) == [("QM013", f"{path}.timeLimits", 13, 13)]


RULES: list[tuple[str, str, tuple[str, str, int, int]]] = [
    ("name: vision", "name: a b", ("QM001", "a/eu-west-1/training.shares.a b.name", 16, 18)),
    ("vision, limits: {ml.g5.xlarge: 2}", "vision, limits: {ml.g5.xlarge: 0}",
     ("QM002", "a/eu-west-1/training.shares.vision.limits.ml.g5.xlarge", 16, 41)),
    ("environment: {ml.g5.xlarge: 4}", "environment: {g5: 4}",
     ("QM003", "a/eu-west-1/training.environment.g5", 14, 27)),
    ("name: speech", "name: vision", ("QM004", "a/eu-west-1/training.shares.vision.name", 17, 18)),
    ("speech, limits: {ml.g5.xlarge: 2}", "speech, limits: {ml.g5.xlarge: 5}",
     ("QM005", "a/eu-west-1/training.shares.speech.limits.ml.g5.xlarge", 17, 41)),
    ("borrowLimit: 50", "borrowLimit: -2", ("QM006", "a/eu-west-1/training.shares.vision.borrowLimit", 16, 86)),
    ("share: {strategy: LEND,", "share: {", ("QM006", "a/eu-west-1/training.shares.speech.strategy", 17, 17)),
    ("LEND_AND_BORROW", "BORROW", ("QM006", "a/eu-west-1/training.shares.vision.strategy", 16, 59)),
    ("_EXCEEDED: 600", "_EXCEEDED: 599",
     ("QM008", f"defaults.queue.timeLimits.{LIMIT}", 4, 18)),
    ("share: {strategy: LEND,", "share: {strategy: LENDS,", ("QM006", "defaults.share.strategy", 2, 11)),
    ("defaults: {queue:", "defaults: {share: {strategy: LENDS}, queue:",
     ("QM006", "teams.a.defaults.share.strategy", 9, 24)),
    ("LEND_AND_BORROW, borrowLimit: 50", "LEND, borrowLimit: 50",
     ("QM006", "a/eu-west-1/training.shares.vision.borrowLimit", 16, 75)),
    ("environment: {ml.g5.xlarge: 4}", "environment: {ml.g5.xlarge: 3}",
     ("QM009", "a/eu-west-1/training.environment.ml.g5.xlarge", 14, 27)),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), RULES)
def test_finding_has_rule_line_and_column(
    write: Callable[[str], Path], old: str, new: str, expected: tuple[str, str, int, int]
) -> None:
    assert old in FILE
    assert expected in findings(write(FILE.replace(old, new)))


SHARE = "a/eu-west-1/training.shares.vision"
SUBMITTER = '2}, submitters: [{role: "arn:aws:iam::111111111111:role/x"}]}'

FORM: list[tuple[str, str, str, tuple[int, int], str, str]] = [
    # where a policy rule is about the value, it is that rule
    ("borrowLimit: 50", "borrowLimit: half", "QM006", (16, 86), f"{SHARE}.borrowLimit", "borrow limit 'half' is not"),
    ("borrowLimit: 50", "borrowLimit: true", "QM006", (16, 86), f"{SHARE}.borrowLimit", "borrow limit True is not"),
    ("borrowLimit: 50", "borrowLimit: 1.5", "QM006", (16, 86), f"{SHARE}.borrowLimit", "borrow limit 1.5 is not"),
    ("LEND_AND_BORROW", "[LEND]", "QM006", (16, 59), f"{SHARE}.strategy", "strategy ['LEND'] is unknown: use one of"),
    ("share: {strategy: LEND,", "share: {strategy: 7,", "QM006", (2, 11), "defaults.share.strategy", "strategy 7 is"),
    ("name: vision", "name: 7", "QM001", (16, 18), "a/eu-west-1/training.shares.0.name", "name 7 is not allowed"),
    ("name: training", "name: [training]", "QM001", (13, 13), "a/eu-west-1/0.name", "name ['training'] is not"),
    ("name: training", "priority: 1", "QM001", (13, 13), "a/eu-west-1/0", "'name' is missing: give name, environment"),
    ("limits: {ml.g5.xlarge: 2}, strategy", "strategy", "QM002", (16, 17), SHARE, "'limits' is missing: give name, l"),
    ("{ml.g5.xlarge: 2}, strategy", "7, strategy", "QM002", (16, 32), f"{SHARE}.limits", "limits 7 are not a map"),
    ("{ml.g5.xlarge: 2}, strategy", '{ml.g5.xlarge: "2"}, strategy', "QM002", (16, 41),
     f"{SHARE}.limits.ml.g5.xlarge", "capacity '2' of ml.g5.xlarge is not allowed: use a whole number"),
    ("{ml.g5.xlarge: 4}", "{5: 4}", "QM003", (14, 27), "a/eu-west-1/training.environment.5", "unit 5 is not a Sage"),
    ("_EXCEEDED: 600", "_EXCEEDED: 1h", "QM008", (4, 18), f"defaults.queue.timeLimits.{LIMIT}", "time limit of '1h' s"),
    # else one of form
    ("borrowLimit: 50", "borrowLimt: 50", "QM-F04", (16, 86), SHARE, "'borrowLimt': did you mean borrowLimit? use s"),
    ("threshold: 5", "threshhold: 5", "QM-F04", (5, 49), "defaults.queue.alarms.preemptedJobs", "mean threshold?"),
    ("teams:", "other:", "QM-F05", (1, 1), "", "'teams' is missing: give teams"),
    ("        queues:", "        all:", "QM-F05", (11, 7), "teams.a.regions.eu-west-1", "'queues' is missing"),
    ('"111111111111"\n    defaults', "111111111111\n    defaults", "QM-F06", (8, 5), "teams.a.account",
     "111111111111 is not allowed: use text, in quotation marks"),
    ('"111111111111"\n    defaults', '"1111"\n    defaults', "QM-F06", (8, 5), "teams.a.account", "id of 12 digits"),
    ("eu-west-1:111111111111:t", "t", "QM-F06", (9, 33), "teams.a.defaults.queue.alarms.topic",
     "use the ARN of an SNS topic such as arn:aws:sns:"),
    ("eu-west-1:\n", "Ireland:\n", "QM-F06", (11, 7), "teams.a.regions.Ireland", "use a Region such as eu-west-1"),
    ("  a:\n", "  a/b:\n", "QM-F06", (7, 3), "teams.a/b", "a team name that begins with a letter"),
    ("threshold: 5", "threshold: 0", "QM-F06", (5, 49), "defaults.queue.alarms.preemptedJobs.threshold", "more than 0"),
    ("threshold: 5", "threshold: 5, periodSeconds: 90", "QM-F06", (5, 63),
     "defaults.queue.alarms.preemptedJobs.periodSeconds", "90 is not allowed: use a multiple of 60"),
    ("failedJobs: false", "failedJobs: true", "QM-F06", (5, 14), "defaults.queue.alarms.failedJobs",
     "True is not allowed: use a map with threshold, periodSeconds, periods, or false"),
    ("name: training", "name: training\n            priority: 1001", "QM-F06", (14, 13),
     "a/eu-west-1/training.priority", "1001 is not allowed: use 0 to 1000"),
    ("name: training", "name: training\n            state: ON", "QM-F06", (14, 13), "a/eu-west-1/training.state",
     "use 'ENABLED' or 'DISABLED'"),
    ("inSharePreemption: true", "inSharePreemption: 1", "QM-F06", (2, 27), "defaults.share.inSharePreemption",
     "1 is not allowed: use true or false"),
    ("teams:", "version: 2\nteams:", "QM-F06", (6, 1), "version", "2 is not allowed: use 1"),
    ("2}}", SUBMITTER.replace("arn:aws:iam::111111111111:role/x", "vision"), "QM-F06", (17, 73),
     "a/eu-west-1/training.shares.speech.submitters.0.role", "use the ARN of an IAM role such as arn:aws:iam::"),
    ("2}}", SUBMITTER.replace("iam::111111111111:role/x", "s3:::bucket"), "QM-F06", (17, 73),
     "a/eu-west-1/training.shares.speech.submitters.0.role", "use the ARN of an IAM role such as arn:aws:iam::"),
    ("2}}", SUBMITTER.replace("111111111111", "222222222222"), "QM-F07", (17, 73),
     "a/eu-west-1/training.shares.speech.submitters.0.role", "is not a role of account 111111111111: name one"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "rule", "place", "where", "says"), FORM)
def test_wrong_form_names_rule_and_place(
    write: Callable[[str], Path], old: str, new: str, rule: str, place: tuple[int, int], where: str, says: str
) -> None:
    assert old in FILE
    with pytest.raises(FormError) as error:
        read_deployment(write(FILE.replace(old, new)))
    faults = {(fault.rule, (fault.line, fault.column), fault.where): fault for fault in error.value.faults}
    assert (rule, place, where) in faults
    assert says in faults[rule, place, where].message
    assert "\n" not in str(error.value)


def test_what_many_inherit_is_told_once_and_where_it_stands(write: Callable[[str], Path]) -> None:
    text = FILE.replace("strategy: LEND_AND_BORROW, borrowLimit: 50", "state: ENABLED").replace(
        "strategy: LEND,", "strategy: LENDS,"
    )
    wrong = [found for found in findings(write(text)) if found[0] == "QM006"]
    assert wrong == [("QM006", "defaults.share.strategy", 2, 11)]


STRANGER: list[tuple[str, str, str]] = [
    ("    strategy: RESERVE", "    strategy: RESERV",
     "quota.yaml:63:17: error QM006: products/eu-west-1/training.shares.release.strategy: sharing strategy 'RESERV' is "
     "unknown: use one of RESERVE, LEND, LEND_AND_BORROW"),
    ("    strategy: RESERVE", "    borrowLimit: 5\n                strategy: RESERVE",
     "quota.yaml:63:17: error QM006: products/eu-west-1/training.shares.release.borrowLimit: borrow limit 5 is given "
     "for a share that doesn't borrow: leave it out or use LEND_AND_BORROW"),
    ("48xlarge: 4\n                in", "48xlarge: 9\n                in",
     "quota.yaml:28:19: error QM005: research/eu-west-1/training.shares.vision.limits.ml.p5.48xlarge: capacity limit 9 "
     "of ml.p5.48xlarge is above the service environment's 8: lower it or raise the environment's"),
    ("              - name: nightly\n",
     "".join(f"              - {{name: s{n}, limits: {{ml.g5.12xlarge: 1}}, strategy: LEND}}\n" for n in range(19))
     + "              - name: nightly\n",
     "quota.yaml:55:13: error QM004: products/eu-west-1/training: 21 quota shares in one job queue: at most 20 are "
     "allowed"),
    ("arn:aws:iam::222222222222:role/release", "release",
     "quota.yaml:65:21: error QM-F06: products/eu-west-1/training.shares.release.submitters.0.role: 'release' is not "
     "allowed: use the ARN of an IAM role such as arn:aws:iam::111111111111:role/vision"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "says"), STRANGER, ids=[says.split()[2] for *_, says in STRANGER])
def test_message_alone_is_enough_to_mend_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, says: str
) -> None:
    """What was given, what is allowed, how to mend it, where and by which rule: in one line."""
    text = EXAMPLE.read_text()
    assert old in text
    monkeypatch.chdir(tmp_path)
    Path("quota.yaml").write_text(text.replace(old, new, 1))
    try:
        rows = rows_of(check(read_input(Path("quota.yaml"))[0]))
    except FormError as error:
        rows = rows_of_form(error)
    assert says in as_text(rows).splitlines()


def test_each_fault_is_told_once_and_from_the_top(write: Callable[[str], Path]) -> None:
    text = FILE.replace("borrowLimit: 50", "borrowLimit: half").replace("threshold: 5", "threshold: 0")
    with pytest.raises(FormError) as error:
        read_deployment(write(text))
    assert [(fault.rule, fault.line) for fault in error.value.faults] == [("QM-F06", 5), ("QM006", 16)]


@pytest.mark.parametrize(("old", "new"), [("threshold: 5", "treshold: 5"), ("teams:", "defaults2:\nteam:")])
def test_misspelt_key_is_not_told_as_missing_too(write: Callable[[str], Path], old: str, new: str) -> None:
    with pytest.raises(FormError) as error:
        read_deployment(write(FILE.replace(old, new)))
    assert {fault.rule for fault in error.value.faults} == {"QM-F04"}


def test_takes_what_is_nearly_wrong(write: Callable[[str], Path]) -> None:
    text = FILE.replace("2}}", SUBMITTER).replace("borrowLimit: 50", "borrowLimit: -1")
    text = text.replace("threshold: 5", "threshold: 0.5, periodSeconds: 120").replace("teams:", "version: 1\nteams:")
    read_deployment(write(text.replace("name: training", "name: training\n            priority: 1000")))


def places_in(data: Any, keys: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if keys:
        yield keys
    for key, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield from places_in(value, (*keys, key))


def form_error(document: Document) -> FormError | None:
    """Return why a document is no deployment; one that is can be checked."""
    try:
        deployment = parse_deployment(document)
    except FormError as error:
        return error
    check(Declarations(queues=declare_deployment(document.path, deployment)))
    return None


@pytest.mark.parametrize("value", [None, True, 7, 1.5, "text", [7], {}, {7: 7}, {None: {}}, {"x": {"y": 1}}])
def test_any_value_anywhere_is_taken_or_refused_with_rule_and_place(value: Any) -> None:
    example = yaml.safe_load(EXAMPLE.read_text())
    del example["teams"]["products"]
    refused = 0
    for *above, last in places_in(example):
        data = deepcopy(example)
        target = data
        for key in above:
            target = target[key]
        target[last] = value
        document = Document(EXAMPLE, data, json.dumps(data, indent=1))
        error = form_error(document)
        if error is not None:
            refused += 1
            place = document.place(tuple(above))
            assert all(fault.rule in RULE_TEXTS and "\n" not in fault.message for fault in error.faults)
            assert any((fault.line, fault.column) >= place for fault in error.faults if place is not None)
    assert refused


def test_queue_names_are_unique_in_an_account_and_region(write: Callable[[str], Path]) -> None:
    document = yaml.safe_load(FILE)
    document["teams"]["b"] = document["teams"]["a"]
    with pytest.raises(FormError, match=r"queue 'training' of eu-west-1 is declared by a and b: .*\[QM-F07\]"):
        read_deployment(write(yaml.safe_dump(document)))
    for near in (
        {"account": "222222222222"},
        {"regions": {"eu-west-2": document["teams"]["a"]["regions"]["eu-west-1"]}},
    ):
        document["teams"]["b"] = {**document["teams"]["a"], **near}
        read_deployment(write(yaml.safe_dump(document)))


def test_published_schema_is_that_of_the_models() -> None:
    published = json.loads((ROOT / "docs" / "quota.schema.json").read_text())
    assert published == deployment_schema(), "python -m constructs_qm.deployment.schema > docs/quota.schema.json"


def test_schema_takes_the_example_and_refuses_what_the_models_refuse() -> None:
    validator = jsonschema.Draft202012Validator(deployment_schema())
    validator.check_schema(deployment_schema())
    document = yaml.safe_load(EXAMPLE.read_text())
    assert list(validator.iter_errors(document)) == []
    queue = document["teams"]["research"]["regions"]["eu-west-1"]["queues"][0]
    for change in (
        {"priority": 1001},
        {"unknown": 1},
        {"environment": {"ml.g5.xlarge": 0}},
        {"timeLimits": {"X": 600}},
    ):
        before = dict(queue)
        queue.update(change)
        assert list(validator.iter_errors(document)), change
        queue.clear()
        queue.update(before)


def test_example_has_no_finding() -> None:
    assert findings(EXAMPLE) == []


SAMPLE: dict[str, Any] = {
    "queues": [
        {
            "name": "qm",
            "type": "quota-management",
            "priority": 3,
            "service_environment": {
                "name": "qm-se",
                "capacity_limits": [{"capacity_unit": "ml.g5.xlarge", "max_capacity": 4}],
            },
            "scheduling_policy": {"name": "qm-policy"},
            "quota_shares": [
                {
                    "name": "vision",
                    "capacity_limits": [{"capacity_unit": "ml.g5.xlarge", "max_capacity": 2}],
                    "sharing_strategy": "LEND_AND_BORROW",
                    "borrow_limit": 100,
                    "in_share_preemption": True,
                },
                {
                    "name": "speech",
                    "capacity_limits": [{"capacity_unit": "ml.g5.xlarge", "max_capacity": 2}],
                    "sharing_strategy": "LEND",
                },
            ],
        },
        {"name": "first-come", "type": "fifo", "priority": 1},
        {"name": "fair", "type": "fair-share", "priority": 1},
    ]
}


def test_imports_the_published_sample() -> None:
    document, left = import_sample(SAMPLE, team="vision", region="eu-west-1", account="111111111111")
    assert left == ["queue 'first-come' of type 'fifo'", "queue 'fair' of type 'fair-share'"]
    deployment = Deployment.model_validate(document)
    ((*_, queue),) = deployment.queues()
    assert (queue.name, queue.priority, queue.environment) == ("qm", 3, {"ml.g5.xlarge": 4})
    assert [(s.name, s.limits, s.strategy, s.borrow_limit, s.in_share_preemption) for s in queue.shares] == [
        ("vision", {"ml.g5.xlarge": 2}, "LEND_AND_BORROW", 100, True),
        ("speech", {"ml.g5.xlarge": 2}, "LEND", None, None),
    ]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ([], "sample is list"),
        ({}, "no list of queues"),
        ({"queues": []}, "no queue of type quota-management"),
        ({"queues": [{"type": "fifo", "name": "f"}]}, "queue 'f' of type 'fifo'"),
        ({"queues": [{"type": "quota-management"}]}, "queues[0] has no 'service_environment'"),
        ({"queues": [7]}, "queues[0] is int"),
    ],
)
def test_import_of_another_form(data: Any, says: str) -> None:
    with pytest.raises(DocumentError) as error:
        import_sample(data, team="a", region="eu-west-1")
    assert says in str(error.value)


def test_export_of_what_is_declared_comes_back(write: Callable[[str], Path]) -> None:
    path = write(FILE)
    (declared,) = declare_deployment(path, read_deployment(path))
    document = export_queue(declared, team="a", region="eu-west-1", account="111111111111")
    again = write(yaml.safe_dump(document, sort_keys=False))
    ((*_, queue),) = read_deployment(again).queues()
    ((*_, before),) = Deployment.model_validate(yaml.safe_load(FILE)).queues()
    for name in ("name", "environment", "time_limits"):
        assert getattr(queue, name) == getattr(before, name)
    for ours, theirs in zip(queue.shares, before.shares, strict=True):
        assert (ours.name, ours.limits, ours.strategy, ours.borrow_limit) == (
            theirs.name, theirs.limits, theirs.strategy, theirs.borrow_limit,
        )  # fmt: skip

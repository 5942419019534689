"""The validation plugin, through the real cdk command line: typed constructs, L1s, included templates, stages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.templates import DELETE, GOOD, edited, limits, submitter

from constructs_qm.validation.assembly_reader import read_assembly
from constructs_qm.validation.checks import check
from constructs_qm.validation.template_reader import read_templates
from quota_scheduler import Level

if TYPE_CHECKING:
    from collections.abc import Callable

    import aws_cdk as cdk

ROOT = Path(__file__).parents[2]
CDK = ROOT / "node_modules" / ".bin" / "cdk"

START = """
import json, sys
from pathlib import Path
import aws_cdk as cdk
from aws_cdk import aws_batch as batch, aws_iam as iam
from aws_cdk.cloudformation_include import CfnInclude
from constructs_qm import QuotaManagedQueue, ResourceSharing
from constructs_qm.validation import OrganisationRule, QuotaPolicyChecks
HERE = Path(__file__).parent
G5 = "ml.g5.xlarge"
app = cdk.App()
"""

END = """
cdk.Validations.of(app).add_plugins(QuotaPolicyChecks(RULES))
app.synth()
"""

EVERY_RULE = (
    START
    + """
RULES = []
for file in sorted(HERE.glob("QM*.json")):
    CfnInclude(cdk.Stack(app, file.stem), "Included", template_file=str(file))
"""
    + END
)

EDITS: dict[str, list[tuple[str, Any]]] = {
    "QM001": [("Vision.Properties.QuotaShareName", "a b")],
    "QM002": [("Environment.Properties.CapacityLimits", limits(g5=4, a=1, b=1, c=1, d=1, e=1))],
    "QM003": [("Environment.Properties.CapacityLimits.0.CapacityUnit", "NUM_INSTANCES")],
    "QM004": [("Speech.Properties.QuotaShareName", "vision")],
    "QM005": [("Vision.Properties.CapacityLimits", limits(g5=5))],
    "QM006": [("Speech.Properties.ResourceSharingConfiguration.BorrowLimit", 100)],
    "QM007": [("Policy.Properties", {"FairsharePolicy": {"ShareDecaySeconds": 60}})],
    "QM008": [("Queue.Properties.JobStateTimeLimitActions.0.MaxTimeSeconds", 599)],
    "QM009": [("Environment.Properties.CapacityLimits", limits(g5=3))],
    "QM010": [("Environment.Properties.CapacityLimits", limits(g5=5))],
    "QM011": [("Speech.Properties.ResourceSharingConfiguration.Strategy", "RESERVE")],
    "QM012": [("Vision.Properties.ResourceSharingConfiguration.BorrowLimit", 150)],
    "QM013": [("Queue.Properties.JobStateTimeLimitActions.1", DELETE)],
    "QM014": [("Team", submitter({"Fn::Sub": "${Queue}*"}))],
    "QM015": [("Vision.Properties.CapacityLimits.0.MaxCapacity", {"Ref": "Count"})],
}

MIXED = (
    START
    + """
class ProductionBorrowsLittle(OrganisationRule):
    id = "ACME001"
    mend = "Lower the borrow limit to 100 or less."

    def check(self, policy):
        for share in policy.shares:
            limit = share.sharing.borrow_limit
            if share.name.startswith("prod") and limit is not None and not 0 <= limit <= 100:
                yield self.finding(f"borrow limit {limit} %: at most 100 % in production", share, "sharing")

RULES = [ProductionBorrowsLittle()]

platform = cdk.Stack(app, "Platform")
queue = QuotaManagedQueue(platform, "Training", capacity={G5: 8})
queue.add_quota_share("prod-a", capacity={G5: 2}, sharing=ResourceSharing.lend_and_borrow(limit_percent=200))
queue.add_quota_share("prod-b", capacity={G5: 4}, sharing=ResourceSharing.lend_and_borrow(limit_percent=50))

def by_hand(scope, id, job_queue, instances):
    return batch.CfnQuotaShare(
        scope, id, quota_share_name=id, job_queue=job_queue,
        capacity_limits=[{"capacityUnit": G5, "maxCapacity": instances}],
        resource_sharing_configuration={"strategy": "LEND"},
        preemption_configuration={"inSharePreemption": "DISABLED"},
    )

team = cdk.Stack(app, "Team")
by_hand(team, "Huge", queue.job_queue_arn, 9)
nested = cdk.NestedStack(team, "Nested")
by_hand(nested, "Huger", queue.job_queue_arn, 10)
role = iam.Role(nested, "Role", assumed_by=iam.AccountRootPrincipal())
role.add_to_policy(iam.PolicyStatement(actions=["batch:*"], resources=[f"{queue.job_queue_arn}*"]))

beta = cdk.Stack(cdk.Stage(app, "Beta"), "Platform")
staged = QuotaManagedQueue(beta, "Training", capacity={G5: 1})
by_hand(beta, "Staged", staged.job_queue_arn, 2)
cdk.Validations.of(beta).acknowledge(cdk.Acknowledgment(id="constructs-qm::QM009", reason="for a trial"))
cdk.Validations.of(beta).acknowledge(cdk.Acknowledgment(id="constructs-qm:QM013", reason="shares come later"))
"""
    + END
)

CLEAN = (
    START
    + """
RULES = []
platform = cdk.Stack(app, "Platform")
queue = QuotaManagedQueue(platform, "Training", capacity={G5: 4})
vision = queue.add_quota_share("vision", capacity={G5: 2}, sharing=ResourceSharing.lend())
team = cdk.Stack(app, "Team")
batch.CfnQuotaShare(
    team, "Share", quota_share_name="speech", job_queue=queue.job_queue_arn,
    capacity_limits=[{"capacityUnit": G5, "maxCapacity": COUNT}],
    resource_sharing_configuration={"strategy": "LEND"},
    preemption_configuration={"inSharePreemption": "DISABLED"},
)
role = iam.Role(team, "Role", assumed_by=iam.AccountRootPrincipal())
vision.grant_submit(role, max_priority=10)
operator = iam.Role(platform, "Operator", assumed_by=iam.AccountRootPrincipal())
queue.grant_administer(operator)
cdk.Validations.of(queue).acknowledge(cdk.Acknowledgment(id="constructs-qm:QM010", reason="a share is elsewhere"))
"""
    + END
)


class Synth:
    """One run of ``cdk synth``."""

    def __init__(self, folder: Path, program: str, *options: str) -> None:
        path = folder / "program.py"
        path.write_text(program)
        command = [CDK, "synth", "--quiet", "--app", f"{sys.executable} {path}", "--output", folder / "out", *options]
        environment = {**os.environ, "JSII_HOST_STACK_TRACES": "1"}
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
        self.status, self.said = done.returncode, done.stdout + done.stderr
        self.program = program
        self.output = folder / "out"
        reports = json.loads((folder / "out" / "validation-report.json").read_text())["pluginReports"]
        own = [report for report in reports if report["pluginName"] == "constructs-qm"]
        self.report: dict[str, Any] = own[0] if own else {"violations": []}

    def found(self, kind: str = "violations") -> set[tuple[str, str, str]]:
        """Rule, construct path and property path."""
        return {
            (violation["ruleName"], place["constructPath"], place["cloudFormationResource"]["propertyPaths"][0])
            for violation in self.report.get(kind, [])
            for place in violation["violatingConstructs"]
        }

    def line_of(self, text: str) -> int:
        return 1 + self.program[: self.program.index(text)].count("\n")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Synth]:
    def run_cdk(program: str, *options: str, files: dict[str, Any] | None = None) -> Synth:
        folder = tmp_path_factory.mktemp("app")
        for name, template in (files or {}).items():
            (folder / name).write_text(json.dumps(template))
        return Synth(folder, program, *options)

    return run_cdk


@pytest.fixture(scope="module")
def every_rule(run: Callable[..., Synth]) -> Synth:
    """A hand-written template for each rule, and one without fault."""
    files = {f"{rule}.json": edited(*edits) for rule, edits in EDITS.items()}
    files["QM015.json"]["Parameters"] = {"Count": {"Type": "Number"}}
    return run(EVERY_RULE, files={**files, "QM000.json": GOOD})


@pytest.fixture(scope="module")
def mixed(run: Callable[..., Synth]) -> Synth:
    return run(MIXED)


@pytest.mark.parametrize("rule", EDITS)
def test_rule_fires_over_a_foreign_template(every_rule: Synth, rule: str) -> None:
    assert rule in {found for found, path, _ in every_rule.found() if path.startswith(rule)}
    assert f"[{rule}] (constructs-qm)" in every_rule.said


def test_template_without_fault_is_not_told(every_rule: Synth) -> None:
    assert [path for _, path, _ in every_rule.found() if path.startswith("QM000")] == []
    assert every_rule.status != 0


def test_l1_share_of_a_typed_queue(mixed: Synth) -> None:
    where = "Properties.CapacityLimits.0.MaxCapacity"
    assert ("QM005", "Team/Huge", where) in mixed.found()
    assert ("QM005", "Team/Nested/Huger", where) in mixed.found()
    assert ("QM005", "Beta/Platform/Staged", where) in mixed.found()


def test_statement_of_a_nested_stack(mixed: Synth) -> None:
    where = "Properties.PolicyDocument.Statement.0"
    assert ("QM014", "Team/Nested/Role/DefaultPolicy/Resource", where) in mixed.found()


def test_rule_of_an_organisation(mixed: Synth) -> None:
    where = "Properties.ResourceSharingConfiguration.BorrowLimit"
    own = {found for found in mixed.found() if found[0] == "ACME001"}
    assert own == {("ACME001", "Platform/Training/prod-a/Resource", where)}
    assert "Lower the borrow limit to 100 or less." in mixed.said


def test_python_line_and_how_to_mend_it(mixed: Synth) -> None:
    assert f"program.py:{mixed.line_of('return batch.CfnQuotaShare')}" in mixed.said
    assert "Suggested fix: Lower the share's limit, or add the instances to the service environment." in mixed.said


def test_acknowledgement_is_counted(mixed: Synth) -> None:
    assert {(rule, path) for rule, path, _ in mixed.found("suppressedViolations")} == {
        ("QM009", "Beta/Platform/Training/ServiceEnvironment/Resource")
    }
    assert mixed.report["metadata"] == {"acknowledged": "1"}


def test_what_a_construct_says_is_not_said_twice(mixed: Synth) -> None:
    assert "[QM010]" in mixed.said  # by the typed queue, which doesn't know of shares made by hand
    assert "QM013" not in {rule for rule, *_ in mixed.found()}


def test_command_line_finds_the_same_in_cdk_out(mixed: Synth) -> None:
    program = "import sys; from constructs_qm.cli import main; sys.argv[:] = ['batch-quota', *sys.argv[1:]]; main()"
    command = [sys.executable, "-c", program, "validate", "--json", mixed.output]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    told = json.loads(done.stdout)
    assert done.returncode == 1
    own = {(rule, path) for rule, path, _ in mixed.found() if rule.startswith("QM")}
    assert own <= {(entry["rule"], entry["path"].split(".")[0]) for entry in told["findings"]}
    assert told["acknowledged"] == 1
    huge = next(entry for entry in told["findings"] if entry["path"].startswith("Team/Huge."))
    assert huge["file"].endswith("program.py")
    assert huge["line"] == mixed.line_of("return batch.CfnQuotaShare")


def test_examples_have_no_finding(examples: cdk.App) -> None:
    assembly = read_assembly(Path(examples.synth().directory))
    found = check(read_templates(assembly.stacks))
    left = [item for item in found if assembly.acknowledgement(item.source.path, item.finding.rule) is None]
    assert [(item.path, item.finding.message) for item in left if item.finding.level is not Level.NOTE] == []


@pytest.mark.parametrize(
    ("instances", "options", "status", "rules"),
    [
        ("2", ["--strict"], 0, set()),
        pytest.param("3", [], 0, {"QM009"}, marks=pytest.mark.slow),
        ("3", ["--strict"], 1, {"QM009"}),
    ],
)
def test_warnings_fail_strict_runs_only(
    run: Callable[..., Synth], instances: str, options: list[str], status: int, rules: set[str]
) -> None:
    result = run(CLEAN.replace("COUNT", instances), *options)
    assert (result.status, {rule for rule, *_ in result.found()}) == (status, rules)


@pytest.mark.slow
def test_adds_under_a_tenth_to_the_synthesis_of_twenty_shares() -> None:
    """The time within the plugin: that of whole runs varies by more than a tenth from one to the next."""
    import time

    import aws_cdk as cdk

    from constructs_qm import QuotaManagedQueue, ResourceSharing
    from constructs_qm.validation import QuotaPolicyChecks

    within = []

    class Timed(QuotaPolicyChecks):
        def validate(self, context: cdk.IPolicyValidationContext) -> cdk.PolicyValidationPluginReport:
            started = time.perf_counter()
            report = super().validate(context)
            within.append(time.perf_counter() - started)
            return report

    def seconds(*plugins: QuotaPolicyChecks) -> float:
        started = time.perf_counter()
        app = cdk.App()
        queue = QuotaManagedQueue(cdk.Stack(app, "Stack"), "Training", capacity={"ml.g5.xlarge": 20})
        for number in range(20):
            queue.add_quota_share(f"s{number}", capacity={"ml.g5.xlarge": 1}, sharing=ResourceSharing.lend())
        cdk.Validations.of(app).add_plugins(*plugins)
        app.synth()
        return time.perf_counter() - started

    runs = [(seconds(), seconds(Timed())) for _ in range(10)]
    without, _ = (sorted(times)[5] for times in zip(*runs, strict=True))
    assert sorted(within)[5] < without / 10

"""The validation plugin, through the real cdk command line: typed constructs, L1s, included templates, stages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.rule_pairs import first_pairs, template_of

from constructs_qm.validation.assembly_reader import read_assembly
from constructs_qm.validation.checks import check
from constructs_qm.validation.template_reader import read_templates
from quota_scheduler import Level
from quota_scheduler.rule_catalogue import RULES

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

PAIRS = first_pairs()

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
    """Two hand-written templates for each rule, one that breaks it and one that nearly does."""
    files = {}
    for rule, (firing, near) in PAIRS.items():
        files |= {f"{rule}-fires.json": template_of(firing), f"{rule}-nearly.json": template_of(near)}
    return run(EVERY_RULE, files=files)


@pytest.fixture(scope="module")
def mixed(run: Callable[..., Synth]) -> Synth:
    return run(MIXED)


@pytest.mark.parametrize("rule", PAIRS)
def test_rule_fires_over_a_foreign_template_and_not_where_it_nearly_does(every_rule: Synth, rule: str) -> None:
    told = {path.split("/")[0] for found, path, _ in every_rule.found() if found == rule}
    assert f"{rule}-fires" in told
    assert f"{rule}-nearly" not in told
    assert f"[{rule}] (constructs-qm)" in every_rule.said
    assert every_rule.status != 0


def test_no_rule_over_policies_is_left_out() -> None:
    assert PAIRS.keys() == {rule for rule in RULES if not rule.startswith("QM-")}


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

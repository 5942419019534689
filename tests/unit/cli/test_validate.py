"""``batch-quota validate``: every input, every format, exit status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote
from xml.etree import ElementTree as Xml

import jsonschema
import pytest
import yaml
from support.templates import GOOD, edited, limits

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., tuple[int, str, str]]

ROOT = Path(__file__).parents[3]
CASES = ROOT / "tests" / "cases"
G5 = "ml.g5.xlarge"


def policy(*shares: dict[str, Any], instances: int = 4) -> dict[str, Any]:
    return {"environment": {G5: instances}, "shares": list(shares)}


def share(name: str, count: int, strategy: str = "LEND", **more: Any) -> dict[str, Any]:
    return {"name": name, "limits": {G5: count}, "strategy": strategy, **more}


FINE = policy(share("vision", 2, "LEND_AND_BORROW", borrowLimit=100), share("speech", 2))

FIRING: list[tuple[str, str, dict[str, Any]]] = [
    ("QM001", "shares.a b.name", policy(share("a b", 2), share("b", 2))),
    ("QM002", "shares.a.limits.ml.g5.xlarge", policy(share("a", 0), share("b", 4))),
    ("QM003", "shares.a.limits.g5", policy({**share("a", 0), "limits": {"g5": 1}}, share("b", 4))),
    ("QM004", "shares.a.name", policy(share("a", 2), share("a", 2))),
    ("QM005", "shares.a.limits.ml.g5.xlarge", policy(share("a", 5))),
    ("QM006", "shares.a.borrowLimit", policy(share("a", 2, borrowLimit=3), share("b", 2))),
    ("QM009", "environment.ml.g5.xlarge", policy(share("a", 3), share("b", 3))),
    ("QM010", "environment.ml.g5.xlarge", policy(share("a", 3))),
    ("QM011", "shares.a.strategy", policy(share("a", 2, "LEND_AND_BORROW"), share("b", 2, "RESERVE"))),
    ("QM012", "shares.a.borrowLimit", policy(share("a", 2, "LEND_AND_BORROW", borrowLimit=200), share("b", 2))),
    ("QM013", "", policy()),
]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Any], Path]:
    monkeypatch.chdir(tmp_path)

    def write_file(name: str, content: Any) -> Path:
        path = tmp_path / name
        text = json.dumps(content, indent=1) if name.endswith(".json") else yaml.safe_dump(content, sort_keys=False)
        path.write_text(content if isinstance(content, str) else text)
        return path

    return write_file


def findings(run: Run, *arguments: object) -> list[dict[str, Any]]:
    _, out, _ = run("validate", "--json", *arguments)
    found: list[dict[str, Any]] = json.loads(out)["findings"]
    return found


@pytest.mark.parametrize(("rule", "path", "document"), FIRING)
@pytest.mark.parametrize("name", ["policy.json", "policy.yaml"])
def test_rule_fires_on_a_policy_file(
    run: Run, write: Callable[[str, Any], Path], name: str, rule: str, path: str, document: Any
) -> None:
    found = findings(run, write(name, document))
    assert (rule, path) in {(entry["rule"], entry["path"]) for entry in found}
    assert {entry["file"] for entry in found} == {name}
    assert all(entry["line"] >= 1 for entry in found)


def test_policy_without_fault(run: Run, write: Callable[[str, Any], Path]) -> None:
    assert run("validate", write("policy.json", FINE)) == (0, "0 errors, 0 warnings, 0 notes\n", "")


def test_line_is_that_of_the_value(run: Run, write: Callable[[str, Any], Path]) -> None:
    text = f"environment:\n  {G5}: 4\nshares:\n- name: a\n  strategy: LEND\n  limits:\n    {G5}: 5\n"
    found, *_ = findings(run, write("policy.yaml", text))
    assert (found["rule"], found["line"], found["column"]) == ("QM005", 7, 5)
    assert found["message"]
    assert found["mend"]


def test_policy_over_time(run: Run, write: Callable[[str, Any], Path]) -> None:
    bad = policy(share("vision", 5))
    found = findings(run, write("policy.json", [{"at": 0, **FINE}, {"at": 60, **bad}]))
    assert [(entry["rule"], entry["path"]) for entry in found] == [
        ("QM005", "[1].shares.vision.limits.ml.g5.xlarge"),
        ("QM009", "[1].environment.ml.g5.xlarge"),
    ]


SHORT_TAGS = """
Resources:
  Environment:
    Type: AWS::Batch::ServiceEnvironment
    Properties: {ServiceEnvironmentType: SAGEMAKER_TRAINING, CapacityLimits: [{CapacityUnit: ml.g5.xlarge, MaxCapacity: 1}]}
  Policy:
    Type: AWS::Batch::SchedulingPolicy
    Properties: {QuotaSharePolicy: {IdleResourceAssignmentStrategy: FIFO}}
  Queue:
    Type: AWS::Batch::JobQueue
    Properties:
      JobQueueType: SAGEMAKER_TRAINING
      Priority: 1
      SchedulingPolicyArn: !GetAtt Policy.Arn
      ServiceEnvironmentOrder: [{Order: 1, ServiceEnvironment: !Ref Environment}]
  Share:
    Type: AWS::Batch::QuotaShare
    Properties:
      QuotaShareName: vision
      JobQueue: !Ref Queue
      CapacityLimits:
        - CapacityUnit: ml.g5.xlarge
          MaxCapacity: 2
      ResourceSharingConfiguration: {Strategy: LEND}
      PreemptionConfiguration: {InSharePreemption: DISABLED}
"""  # noqa: E501


def test_template_with_short_tags(run: Run, write: Callable[[str, Any], Path]) -> None:
    found = findings(run, write("template.yml", SHORT_TAGS))
    assert {(entry["rule"], entry["path"], entry["line"]) for entry in found} == {
        ("QM013", "Queue.JobStateTimeLimitActions", 11),
        ("QM005", "Share.CapacityLimits.0.MaxCapacity", 23),
        ("QM009", "Environment.CapacityLimits.0.MaxCapacity", 5),
    }


@pytest.mark.parametrize("name", ["t.json", "t.yaml", "t.template"])
def test_template(run: Run, write: Callable[[str, Any], Path], name: str) -> None:
    assert run("validate", write(name, GOOD))[0] == 0
    bad = edited(("Vision.Properties.CapacityLimits", limits(g5=5)))
    (found, *_) = findings(run, write(name, bad))
    assert (found["rule"], found["path"], found["file"]) == ("QM005", "Vision.CapacityLimits.0.MaxCapacity", name)


@pytest.mark.parametrize(
    ("document", "options", "status"),
    [
        (FINE, ["--strict"], 0),
        (policy(share("a", 3)), [], 0),
        (policy(share("a", 3)), ["--strict"], 1),
        (policy(share("a", 5)), [], 1),
    ],
)
@pytest.mark.parametrize("form", ["text", "json", "sarif", "junit"])
def test_exit_status(
    run: Run, write: Callable[[str, Any], Path], document: Any, options: list[str], status: int, form: str
) -> None:
    assert run("validate", write("p.json", document), "--format", form, *options)[::2] == (status, "")


def test_text_alone_is_enough_to_mend_it(run: Run, write: Callable[[str, Any], Path]) -> None:
    _, out, _ = run("validate", write("policy.json", policy(share("a", 5), share("b", 1))))
    first = out.splitlines()[0]
    for part in ("policy.json:9:", "error QM005", "shares.a", "limit 5", "environment's 4", "lower it or raise"):
        assert part in first


def test_junit(run: Run, write: Callable[[str, Any], Path]) -> None:
    path = write("p.json", policy(share("a", 5), share("b", 3)))
    for options, failures in (([], 1), (["--strict"], 2)):
        _, out, _ = run("validate", path, "--format", "junit", *options)
        suite = Xml.fromstring(out).find("testsuite")
        assert suite is not None
        cases = list(suite)
        failed = [case for case in cases if case.find("failure") is not None]
        assert len(failed) == failures == int(suite.attrib["failures"])
        assert int(suite.attrib["tests"]) == len(cases)
        assert len({case.attrib["name"] for case in cases}) == len(cases)


def test_junit_holds_any_text(run: Run, write: Callable[[str, Any], Path]) -> None:
    _, out, _ = run("validate", write("p.json", policy(share("a\x00<&]]>", 2))), "--format", "junit")
    assert "QM001" in {case.attrib["name"].split()[0] for case in Xml.fromstring(out).iter("testcase")}


@pytest.fixture(scope="module")
def sarif_schema() -> jsonschema.Draft202012Validator:
    """The published schema, from the package that ships it."""
    path = ROOT / "node_modules" / "@microsoft" / "sarif-multitool-ts" / "assets" / "sarif-2.1.0.schema.json"
    return jsonschema.Draft202012Validator(
        json.loads(path.read_text()), format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
    )


@pytest.mark.parametrize(
    ("name", "content", "rules"),
    [
        ("fine.json", FINE, []),
        ("a b%#?ä.json", policy(share("a", 5), share("b", 3)), ["QM005", "QM009"]),
        ("p.json", policy(share('a\x00<&]]>"', 2)), ["QM001"]),
        ("many.json", [document for *_, document in FIRING], None),
        ("t.yaml", SHORT_TAGS, ["QM013", "QM005", "QM009"]),
        ("malformed.yaml", "environment: 4\nshares: 7", ["QM002", "QM-F06"]),
        ("syntax.json", "{", ["QM-F01"]),
    ],
)
def test_sarif(
    run: Run,
    write: Callable[[str, Any], Path],
    sarif_schema: jsonschema.Draft202012Validator,
    name: str,
    content: Any,
    rules: list[str] | None,
) -> None:
    """Valid against the published schema, and what code scanning asks for beyond it."""
    log = json.loads(run("validate", write(name, content), "--format", "sarif")[1])
    assert [error.message for error in sarif_schema.iter_errors(log)] == []
    (single,) = log["runs"]
    told = [result["ruleId"] for result in single["results"]]
    assert rules is None or told == rules
    described = single["tool"]["driver"]["rules"]
    for result in single["results"]:
        assert described[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["partialFingerprints"]
        physical = result["locations"][0]["physicalLocation"]
        uri = physical["artifactLocation"]["uri"]
        assert (unquote(uri), uri.isascii(), " " in uri) == (name, True, False)
        assert physical["region"]["startLine"] >= 1
    assert all(rule["shortDescription"]["text"] and rule["help"]["text"] for rule in described)


def test_the_sarif_schema_would_refuse_a_wrong_log(
    run: Run, write: Callable[[str, Any], Path], sarif_schema: jsonschema.Draft202012Validator
) -> None:
    log = json.loads(run("validate", write("p.json", policy(share("a", 5))), "--format", "sarif")[1])
    for change in ({"level": "fatal"}, {"message": "text"}, {"line": 3}, {"ruleIndex": "0"}):
        wrong = {**log, "runs": [{**log["runs"][0], "results": [{**log["runs"][0]["results"][0], **change}]}]}
        assert list(sarif_schema.iter_errors(wrong)), change


MALFORMED: list[tuple[str, str, str, str, str]] = [
    ("QM-F01", "a.json", "{", "1:2", "not JSON"),
    ("QM-F01", "a.yaml", "a: [", "2:1", "not YAML"),
    ("QM-F02", "a.yaml", "[" * 200 + "]" * 200, "1:101", "nested deeper"),
    ("QM-F03", "a.json", '{"shares": [],\n "shares": []}', "2:2", "key 'shares' is given twice"),
    ("QM-F08", "a.json", "7", "1:1", "neither a policy"),
    ("QM-F08", "a.yaml", "", "1:1", "neither a policy"),
    ("QM-F08", "a.json", "[]", "1:1", "neither a policy"),
    ("QM-F05", "a.json", '{"environment": {}}', "1:1", "policy has no 'shares': give environment and shares"),
    ("QM-F06", "a.json", '{"environment": {},\n "shares": [7]}', "2:13", "shares[0]: share is 7: give an object with"),
    ("QM-F06", "a.json", '[{"environment": {}, "shares": {}}]', "1:22", "[0].shares: {} is not a list"),
    ("QM002", "a.yaml", "environment: 4\nshares: []", "1:1", "environment: 4 is not an object: give instance types"),
    ("QM-F04", "a.yaml", "environment: {}\nshares:\n  - {name: a, limits: {}, strategy: LEND, stat: ON}", "3:43",
     "shares[0]: unknown key 'stat': did you mean state? use name, limits"),
    ("QM001", "a.yaml", "environment: {}\nshares:\n  - {limits: {}, strategy: LEND}", "3:5", "share has no 'name'"),
    ("QM002", "a.yaml", "environment: {}\nshares:\n  - {name: a, strategy: LEND}", "3:5", "share has no 'limits'"),
    ("QM006", "a.yaml", "environment: {}\nshares:\n  - {name: a, limits: {}}", "3:5", "share has no 'strategy'"),
    ("QM-F06", "a.yaml", "environment: {}\nshares:\n  - {name: a, limits: {}, strategy: LEND, state: on}", "3:43",
     "shares[0].state: True is not allowed: use ENABLED or DISABLED"),
    ("QM-F04", "a.yaml", "environment: {}\nshares:\n  - {name: a, limits: {}, strateg: LEND}", "3:27",
     "shares[0]: unknown key 'strateg': did you mean strategy? use name, limits, strategy, borrowLimit, "
     "inSharePreemption, state [QM-F04]\n"),
    ("QM-F04", "a.yaml", "temas: {}\ndefaults: {}", "1:1", "unknown key 'temas': did you mean teams?"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "name", "content", "place", "says"), MALFORMED)
def test_malformed_file(
    run: Run, write: Callable[[str, Any], Path], rule: str, name: str, content: str, place: str, says: str
) -> None:
    """One line on standard error, with place and rule; in every format of findings, too."""
    path = write(name, content)
    outcomes = {form: run("validate", path, "--format", form) for form in ("text", "json", "sarif", "junit")}
    for status, _, err in outcomes.values():
        assert (status, err.count("\n")) == (2, 1)
        for part in (f"batch-quota: {path}:{place}: ", says, f"[{rule}]"):
            assert part in err
    assert f"{name}:{place}: error {rule}: " in outcomes["text"][1]
    first = json.loads(outcomes["json"][1])["findings"][0]
    assert (first["rule"], first["level"], first["file"]) == (rule, "error", name)
    assert (f"{first['line']}:{first['column']}", bool(first["mend"])) == (place, True)
    result = json.loads(outcomes["sarif"][1])["runs"][0]["results"][0]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert (result["ruleId"], f"{region['startLine']}:{region['startColumn']}") == (rule, place)
    assert rule in {failure.attrib["type"] for failure in Xml.fromstring(outcomes["junit"][1]).iter("failure")}


def test_every_fault_of_form_is_told_and_other_files_are_checked(run: Run, write: Callable[[str, Any], Path]) -> None:
    bad = write("bad.yaml", "environment: 4\nshares: 7")
    other = write("other.yaml", policy(share("a", 5)))
    status, out, err = run("validate", "--json", bad, other)
    assert status == 2
    found = [(entry["file"], entry["rule"]) for entry in json.loads(out)["findings"] if entry["level"] == "error"]
    assert found == [("other.yaml", "QM005"), ("bad.yaml", "QM002"), ("bad.yaml", "QM-F06")]
    assert err.endswith("[QM002] (and 1 more)\n")


def test_share_of_no_form_beside_one_with_a_bad_value(run: Run, write: Callable[[str, Any], Path]) -> None:
    status, out, _ = run("validate", "--json", write("a.json", {**policy(share("a", 0)), "shares": [share("a", 0), 7]}))
    assert (status, [entry["path"] for entry in json.loads(out)["findings"]]) == (2, ["shares[1]"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "give PATH, --queue NAME"),
        (["nowhere.json"], "nowhere.json: No such file"),
        ([CASES], "manifest.json: No such file"),
        (["--endpoint-url", "http://127.0.0.1:1", CASES], "goes with --queue"),
        ([CASES, "--format", "html"], "format"),
    ],
)
def test_bad_arguments(run: Run, arguments: list[object], says: str) -> None:
    status, out, err = run("validate", *arguments)
    assert (status, out) == (2, "")
    assert says in err


@pytest.mark.parametrize(
    ("artifacts", "says"),
    [
        ([], "not the manifest of a cloud assembly"),
        ({"A": {"type": "aws:cloudformation:stack", "properties": {"templateFile": "../x.json"}}}, "in its folder"),
        ({"A": {"type": "cdk:cloud-assembly", "properties": {"directoryName": "/etc"}}}, "in its folder"),
        ({"A": {"type": "cdk:cloud-assembly", "properties": {}}}, "in its folder"),
        ({"A": {"type": "cdk:cloud-assembly", "properties": {"directoryName": "."}}}, "not the manifest"),
    ],
)
def test_untrusted_manifest(run: Run, write: Callable[[str, Any], Path], artifacts: Any, says: str) -> None:
    status, out, err = run("validate", write("manifest.json", {"artifacts": artifacts}).parent)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert says in err


def test_known_answer_cases_are_policies(run: Run) -> None:
    for case in sorted(CASES.glob("*.json"))[:5]:
        assert run("validate", case)[0] in (0, 1)


class TestWhatIf:
    """What a change would do to a workload: two bursts, of which one can use what the other share leaves idle."""

    OLD = policy(share("vision", 2, "LEND_AND_BORROW", borrowLimit=100), share("speech", 2))
    NARROWER = policy(share("vision", 2), share("speech", 2))
    SMALLER = policy(share("vision", 1), share("speech", 3))
    TRACE = "job_id,submit_s,duration_s,team,gpus\n" + "".join(f"j{n},0,100,vision,2\n" for n in range(4))

    @pytest.fixture
    def change(self, run: Run, write: Callable[[str, Any], Path]) -> Callable[..., tuple[int, str, str]]:
        def run_change(new: dict[str, Any], *options: str) -> tuple[int, str, str]:
            trace, old = write("trace.csv", self.TRACE), write("old.json", self.OLD)
            new_file = write("new.json", new)
            return run("validate", new_file, "--simulate", trace, "--baseline", old, *options)

        return run_change

    def test_tells_figures_of_both_policies(self, change: Callable[..., tuple[int, str, str]]) -> None:
        status, out, _ = change(self.NARROWER, "--json")
        told = json.loads(out)["what_if"]
        figures = {(m["name"], m["share"]): (m["before"], m["after"]) for m in told["measures"]}
        assert figures["wait_mean_s", "vision"] == (50, 150)
        assert figures["wait_p95_s", "vision"] == (100, 300)
        assert figures["utilisation", ""] == (1.0, 0.5)
        assert (status, told["rows"]["used"]) == (0, 4)

    def test_text(self, change: Callable[..., tuple[int, str, str]]) -> None:
        _, out, _ = change(self.NARROWER)
        assert "100.0% ->      50.0%" in out
        assert "4 of 4 rows" in out

    @pytest.mark.parametrize(
        ("new", "options", "rules"),
        [
            (NARROWER, [], []),
            (NARROWER, ["--max-wait-growth", "199"], ["QM-W01", "QM-W01"]),
            (NARROWER, ["--max-wait-growth", "200"], []),
            (NARROWER, ["--max-utilisation-loss", "49"], ["QM-W04"]),
            (NARROWER, ["--max-utilisation-loss", "50"], []),
            (SMALLER, ["--max-wait-growth", "1000"], ["QM-W02"]),
            (OLD, ["--max-wait-growth", "0", "--max-utilisation-loss", "0", "--max-preemption-growth", "0"], []),
        ],
    )
    def test_thresholds_fail_the_build(
        self, change: Callable[..., tuple[int, str, str]], new: dict[str, Any], options: list[str], rules: list[str]
    ) -> None:
        status, out, _ = change(new, "--json", *options)
        found = [entry for entry in json.loads(out)["findings"] if entry["rule"].startswith("QM-W")]
        assert [entry["rule"] for entry in found] == rules
        assert status == bool(rules)
        assert all(entry["file"] == "new.json" and entry["line"] and entry["mend"] for entry in found)

    def test_preemptions(self, run: Run, write: Callable[[str, Any], Path]) -> None:
        trace = "job_id,submit_s,duration_s,team,gpus\na,0,500,vision,2\nb,0,500,vision,2\nc,10,50,speech,2\n"
        arguments = ["--simulate", write("t.csv", trace), "--baseline", write("old.json", self.NARROWER)]
        new = write("new.json", self.OLD)
        assert run("validate", new, *arguments)[0] == 0
        status, out, _ = run("validate", new, *arguments, "--max-preemption-growth", "900")
        assert status == 1
        assert "preemptions would grow from 0 to 1" in out

    def test_deployment_files(self, run: Run, write: Callable[[str, Any], Path]) -> None:
        def deployment(vision: dict[str, Any]) -> dict[str, Any]:
            queues = [{"name": "training", **policy(vision, share("speech", 2))}]
            more = [{"name": "other", **FINE}]
            return {"teams": {"a": {"regions": {"eu-west-1": {"queues": queues + more}}}}}

        old = write("old.yaml", deployment(share("vision", 2, "LEND_AND_BORROW", borrowLimit=100)))
        new = write("new.yaml", deployment(share("vision", 2)))
        trace = write("t.csv", self.TRACE)
        options = ["--simulate", trace, "--baseline", old, "--max-wait-growth", "10", "--json"]
        assert json.loads(run("validate", new, *options)[1])["what_if"]["queue"] == "a/eu-west-1/training"
        status, _, err = run("validate", new, "--simulate", trace, "--baseline", new)
        assert (status, "(changed: none)" in err) == (2, True)

    def test_a_policy_with_errors_is_not_simulated(self, change: Callable[..., tuple[int, str, str]]) -> None:
        status, out, _ = change(policy(share("vision", 5)), "--max-wait-growth", "0")
        assert (status, "QM005" in out, "what if" in out) == (1, True, False)

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            (["--simulate", "t.csv"], "go together"),
            (["--baseline", "t.json"], "go together"),
            (["--max-wait-growth", "1"], "thresholds go with --simulate"),
        ],
    )
    def test_options_that_belong_together(
        self, run: Run, write: Callable[[str, Any], Path], options: list[str], says: str
    ) -> None:
        status, _, err = run("validate", write("p.json", FINE), *options)
        assert (status, says in err) == (2, True)

"""For each policy rule, templates that break it and templates that nearly do, as edits of the one without fault."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from support.templates import DELETE, GOOD, QUEUE_REASONS, edited, limits, share, submitter

Edits = list[tuple[str, Any]]

VISION, SPEECH, ENVIRONMENT = "Vision.Properties.", "Speech.Properties.", "Environment.Properties."
LIMITS, SHARING = "CapacityLimits", "ResourceSharingConfiguration."
LIMIT = "Queue.Properties.JobStateTimeLimitActions.0."
SECOND: Edits = [
    ("Second", GOOD["Resources"]["Queue"]),
    ("More", share("more", 4)),
    ("More.Properties.JobQueue", {"Ref": "Second"}),
]
OWN: Edits = [
    ("Own", GOOD["Resources"]["Environment"]),
    ("Second.Properties.ServiceEnvironmentOrder.0.ServiceEnvironment", {"Ref": "Own"}),
]


def more_shares(count: int) -> Edits:
    return [(ENVIRONMENT + LIMITS, limits(g5=4 + count)), *((f"S{n}", share(f"s{n}", 1)) for n in range(count))]


TEMPLATE_PAIRS: list[tuple[str, Edits, Edits]] = [
    ("QM001", [(VISION + "QuotaShareName", "a b")], [(VISION + "QuotaShareName", "a_b-9")]),
    ("QM001", [(VISION + "QuotaShareName", "x" * 129)], [(VISION + "QuotaShareName", "x" * 128)]),
    ("QM001", [("Queue.Properties.JobQueueName", "")], [("Queue.Properties.JobQueueName", "q")]),
    ("QM002", [(ENVIRONMENT + LIMITS, limits(g5=4, a=1, b=1, c=1, d=1, e=1))],
     [(ENVIRONMENT + LIMITS, limits(g5=4, a=1, b=1, c=1, d=1))]),
    ("QM002", [(SPEECH + LIMITS, limits(g5=0))], [(SPEECH + LIMITS, limits(g5=1))]),
    ("QM002", [(SPEECH + LIMITS, [])], [(SPEECH + LIMITS, limits(g5=2))]),
    ("QM002", [(SPEECH + LIMITS, limits(g5=1) * 2)], [(SPEECH + LIMITS, limits(g5=1, p5=1))]),
    ("QM003", [(ENVIRONMENT + LIMITS + ".0.CapacityUnit", "NUM_INSTANCES")],
     [(ENVIRONMENT + LIMITS + ".0.CapacityUnit", "ml.p6e-gb200.36xlarge")]),
    ("QM003", [(ENVIRONMENT + LIMITS + ".0.CapacityUnit", "g5.xlarge")],
     [(ENVIRONMENT + LIMITS + ".0.CapacityUnit", "ml.g5.xlarge")]),
    ("QM004", [(SPEECH + "QuotaShareName", "vision")], [(SPEECH + "QuotaShareName", "Vision")]),
    ("QM004", more_shares(19), more_shares(18)),
    ("QM005", [(VISION + LIMITS, limits(g5=5))], [(VISION + LIMITS, limits(g5=4))]),
    ("QM005", [(VISION + LIMITS, limits(p5=1))],
     [(VISION + LIMITS, limits(p5=1)), (ENVIRONMENT + LIMITS, limits(g5=4, p5=1))]),
    ("QM006", [(SPEECH + SHARING + "BorrowLimit", 100)],
     [(SPEECH + SHARING + "BorrowLimit", 100), (SPEECH + SHARING + "Strategy", "LEND_AND_BORROW")]),
    ("QM006", [(VISION + SHARING + "BorrowLimit", -2)], [(VISION + SHARING + "BorrowLimit", -1)]),
    ("QM006", [(SPEECH + SHARING + "Strategy", "LENDS")], [(SPEECH + SHARING + "Strategy", "RESERVE")]),
    ("QM007", [("Policy.Properties", {"FairsharePolicy": {"ShareDecaySeconds": 60}})],
     [("Policy.Properties.Name", "quota")]),
    ("QM007", [("Queue.Properties.JobQueueType", "ECS")], [("Queue.Properties.JobQueueType", DELETE)]),
    ("QM007", SECOND, SECOND + OWN),
    ("QM008", [(LIMIT + "MaxTimeSeconds", 599)], [(LIMIT + "MaxTimeSeconds", 600)]),
    ("QM008", [(LIMIT + "MaxTimeSeconds", 86_401)], [(LIMIT + "MaxTimeSeconds", 86_400)]),
    ("QM008", [(LIMIT + "Action", "CANCEL")], [(LIMIT + "Action", "TERMINATE")]),
    ("QM008", [(LIMIT + "Reason", "CAPACITY")], [(LIMIT + "Reason", QUEUE_REASONS[1])]),
    ("QM009", [(ENVIRONMENT + LIMITS, limits(g5=3))], [(ENVIRONMENT + LIMITS, limits(g5=4))]),
    ("QM010", [(ENVIRONMENT + LIMITS, limits(g5=5))], [(ENVIRONMENT + LIMITS, limits(g5=4))]),
    ("QM011", [(SPEECH + SHARING + "Strategy", "RESERVE")], [(SPEECH + SHARING + "Strategy", "LEND")]),
    ("QM012", [(VISION + SHARING + "BorrowLimit", 150)], [(VISION + SHARING + "BorrowLimit", 149)]),
    ("QM013", [("Queue.Properties.JobStateTimeLimitActions.1", DELETE)], []),
    ("QM013", [("Vision", DELETE), ("Speech", DELETE), ("Team", DELETE)], [("Speech", DELETE)]),
    ("QM014", [("Team", submitter({"Fn::Sub": "${Queue}*"}))],
     [("Team", submitter({"Ref": "Queue"}, {"Fn::Sub": "${Queue}/quota-share/vision"}))]),
    ("QM014", [("Team", submitter("*"))], [("Team", submitter("*", action="batch:SubmitJob"))]),
    ("QM015", [(VISION + LIMITS + ".0.MaxCapacity", {"Ref": "Count"})], [(VISION + LIMITS + ".0.MaxCapacity", "2")]),
]  # fmt: skip


def template_of(edits: Edits) -> dict[str, Any]:
    """Return the template; ``Count`` is a parameter that only deployment knows."""
    return {"Parameters": {"Count": {"Type": "Number"}}, **deepcopy(edited(*edits))}


def first_pairs() -> dict[str, tuple[Edits, Edits]]:
    """Return one pair a rule."""
    return {rule: (firing, near) for rule, firing, near in reversed(TEMPLATE_PAIRS)}

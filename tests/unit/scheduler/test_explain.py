"""Explanations name what is short, who holds it, and what would have to end."""

from __future__ import annotations

import pytest
from support.lab import BORROW, G5, LEND, RESERVE, Lab, share

from quota_scheduler import Decision, JobError, Outcome, OutcomeKind, PreemptionKind, ResourceSharing, Victim
from quota_scheduler.action import Rule
from quota_scheduler.explain import explain, moment
from quota_scheduler.ledger import Figures

P4 = "ml.p4d.24xlarge"


def causes(lab: Lab, job: str) -> list[tuple[str, str, int, tuple[str, ...]]]:
    found = explain(lab.scheduler, job, lab.outcomes)
    return [(cause.rule, cause.unit, cause.short, cause.held_by) for cause in found.because]


def test_a_full_share_that_does_not_borrow() -> None:
    lab = Lab(3, share("A", 2, LEND), share("B", 1))
    lab.submit("a1", "A", 2)
    lab.submit("waits", "A", 1)
    assert causes(lab, "waits") == [("own-quota", G5, 1, ("a1",)), ("borrow", G5, 1, ("a1",))]
    text = explain(lab.scheduler, "waits").text
    assert "Share A uses 2 of its limit of 2 ml.g5.xlarge, and it needs 1" in text
    assert "doesn't borrow (LEND)" in text


def test_nothing_left_to_borrow() -> None:
    lab = Lab(3, share("A", 1, BORROW), share("B", 1, BORROW), share("C", 1, RESERVE))
    lab.submit("b1", "B", 2)
    lab.submit("a1", "A", 1)
    assert lab.preempted == [("b1", "cross-share")]
    lab.submit("a2", "A", 1)
    lab.submit("a3", "A", 1)
    assert causes(lab, "a3") == [
        ("own-quota", G5, 2, ("a2", "a1")),
        ("borrow", G5, 1, ()),
    ]


def test_the_borrow_limit_is_reached() -> None:
    lab = Lab(4, share("A", 1, ResourceSharing.lend_and_borrow(limit_percent=100)), share("B", 3))
    lab.submit("a1", "A", 2)
    lab.submit("a2", "A", 1)
    assert ("borrow", G5, 1, ("a1",)) in causes(lab, "a2")
    assert "allows share A at most 2 ml.g5.xlarge" in explain(lab.scheduler, "a2").text


def test_behind_another_job_blocked_and_running() -> None:
    lab = Lab(1, share("A", 1))
    lab.submit("runs", "A")
    lab.submit("front", "A", priority=3)
    lab.submit("behind", "A")
    lab.submit("never", "A", 2, priority=9)
    assert causes(lab, "never")[0][0] == "blocked"
    assert causes(lab, "behind") == [("head-of-line", "", 0, ("never",))]
    assert explain(lab.scheduler, "runs").because == []


def test_waiting_for_victims_to_stop() -> None:
    lab = Lab(2, share("A", 1, BORROW), share("B", 1), preemption_seconds=20)
    lab.submit("a1", "A")
    lab.submit("a2", "A")
    lab.submit("b", "B")
    assert causes(lab, "b") == [("stopping", "", 0, ("a2",))]


def test_in_share_preemption_that_would_not_free_enough() -> None:
    lab = Lab(4, share("A", 4, RESERVE, in_share=True))
    lab.submit("low", "A", 1)
    lab.submit("same", "A", 3, priority=5)
    lab.submit("waits", "A", 4, priority=5)
    assert causes(lab, "waits")[-1] == ("in-share", "", 0, ("low",))


@pytest.mark.parametrize(("kind", "victim", "by"), [("cross-share", "a2", "b"), ("in-share", "a1", "top")])
def test_who_preempted_it_and_whether_that_was_owed(kind: str, victim: str, by: str) -> None:
    lab = Lab(2, share("A", 1, BORROW, in_share=True), share("B", 1))
    lab.submit("a1", "A", priority=2)
    lab.submit("a2", "A", priority=1)
    lab.wait(5)
    lab.submit("b", "B")
    lab.submit("top", "A", priority=9)
    (entry,) = explain(lab.scheduler, victim, lab.outcomes).preempted_by
    assert (entry["kind"], entry["job"], entry["at"], entry["owed"]) == (kind, by, 5, True)
    assert "as the policy promises" in explain(lab.scheduler, victim, lab.outcomes).text


def test_a_unit_the_share_has_no_limit_for() -> None:
    lab = Lab({G5: 1, P4: 2}, share("A", {G5: 1}, BORROW), share("B", {P4: 2}), borrow_without_limit=True)
    lab.submit("b", "B", {P4: 2})
    lab.submit("a", "A", {P4: 1})
    assert causes(lab, "a") == [("own-quota", P4, 1, ()), ("borrow", P4, 1, ())]


CROSS, IN = PreemptionKind.CROSS_SHARE, PreemptionKind.IN_SHARE


@pytest.mark.parametrize(
    ("victim", "use", "owed"),
    [
        (Victim("v", "B", CROSS, 9, ((G5, 1),)), 2, True),
        (Victim("v", "B", CROSS, 0, ((G5, 0),)), 2, False),  # its share was within its limit
        (Victim("v", "B", CROSS, 0, ((P4, 1), (G5, 0))), 2, False),  # beyond it in a unit that wasn't needed
        (Victim("v", "B", CROSS, 0, ((G5, 1),)), 3, False),  # the beneficiary borrows
        (Victim("v", "A", CROSS, 0, ((G5, 1),)), 2, False),  # of the same share
        (Victim("v", "A", IN, 4, ((G5, 0),)), 3, True),
        (Victim("v", "A", IN, 5, ((G5, 0),)), 3, False),  # of equal priority
        (Victim("v", "B", IN, 4, ((G5, 1),)), 3, False),  # of another share
    ],
)
def test_whether_a_preemption_was_owed_by_the_figures_of_its_moment(victim: Victim, use: int, owed: bool) -> None:
    lab = Lab(3, share("A", 2, BORROW), share("B", 1, BORROW))
    job = lab.submit("v", victim.share)
    after = (Figures(G5, use, 2, 3, 3, 0, 0),)
    decision = Decision(7, Rule.RECLAIM, "j", "A", 5, (victim,), (), after, after)
    outcome = Outcome(7, OutcomeKind.PREEMPTING, job, job.state, job.state, decision=decision)
    (entry,) = explain(lab.scheduler, "v", [outcome]).preempted_by
    assert entry["owed"] is owed
    assert entry["text"].endswith("as the policy promises" if owed else "which the policy doesn't promise")


def test_a_paused_queue_dispatches_nothing() -> None:
    lab = Lab(1, share("A", 1))
    lab.scheduler.paused = True
    lab.submit("a", "A")
    assert causes(lab, "a") == [("paused", "", 0, ())]


def test_what_is_about_to_happen() -> None:
    lab = Lab(2, share("A", 1, BORROW), share("B", 1))
    lab.submit("a1", "A")
    lab.submit("a2", "A", run=False)
    assert causes(lab, "a2") == [("borrow", "", 0, ())]
    lab.run()
    lab.submit("b", "B", run=False)
    found = explain(lab.scheduler, "b")
    why = "A uses 1 ml.g5.xlarge beyond its limit; its priority is 0"
    assert found.would_preempt == [{"job": "a2", "share": "A", "kind": "cross-share", "why": why}]
    assert found.text == f"b is RUNNABLE. The next pass would stop a2 of A (cross-share: {why}) for it."


def test_why_a_job_of_its_own_share_would_be_stopped() -> None:
    lab = Lab(1, share("A", 1, in_share=True))
    lab.submit("low", "A", priority=2)
    lab.submit("high", "A", priority=7, run=False)
    (victim,) = explain(lab.scheduler, "high").would_preempt
    assert (victim["kind"], victim["why"]) == ("in-share", "its priority 2 is below 7")


def test_a_job_that_can_never_run_says_so_before_any_pass_looked_at_it() -> None:
    lab = Lab(1, share("A", 1))
    lab.submit("never", "A", 2, run=False)
    assert causes(lab, "never") == [("blocked", "", 0, ())]
    assert "cannot meet the capacity requirement" in explain(lab.scheduler, "never").text


def test_preemptions_under_way_for_somebody_unknown() -> None:
    lab = Lab(3, share("A", 1, BORROW), share("B", 2), preemption_seconds=20)
    lab.submit("a1", "A")
    lab.submit("a2", "A", 2)
    lab.scheduler.note_preemption("a2", PreemptionKind.CROSS_SHARE, until=30)
    lab.submit("b", "B", 2)
    assert causes(lab, "b")[0] == ("stopping", "", 0, ("a2",))
    assert lab.preempted == [], "what is stopping already will do"
    lab.wait(30)
    assert lab.holding == {"a1", "b"}


def test_what_is_short_of_its_own_and_who_holds_it() -> None:
    lab = Lab(2, share("A", 2), share("B", 2))  # more than there is: A's jobs are within its limit
    lab.submit("a1", "A")
    lab.submit("a2", "A")
    lab.submit("b", "B", 2)
    assert causes(lab, "b") == [("reclaim", G5, 2, ("a2", "a1"))]
    assert (
        "It lacks 2 ml.g5.xlarge of its own capacity: jobs that hold 2 must end, of a2 (1), a1 (1)"
        in explain(lab.scheduler, "b").text
    )


def test_a_sentence_names_a_few_and_the_structure_all() -> None:
    lab = Lab(9, share("A", 9))
    for index in range(9):
        lab.submit(f"a{index}", "A")
    lab.submit("waits", "A")
    found = explain(lab.scheduler, "waits")
    assert len(found.because[0].held_by) == 9
    assert "of a8 (1), a7 (1), a6 (1), a5 (1), a4 (1) and 4 more" in found.text


def test_the_document_is_what_the_command_line_promises() -> None:
    lab = Lab(1, share("A", 1))
    lab.submit("a1", "A")
    lab.submit("a2", "A")
    document = explain(lab.scheduler, "a2").to_document()
    assert set(document) == {"job", "state", "because", "would_preempt", "preempted_by", "text"}
    assert document["because"][0] == {"rule": "own-quota", "unit": G5, "short": 1, "held_by": ["a1"]}


@pytest.mark.parametrize(
    ("at", "text"), [(0, "At 0 s"), (12.5, "At 12.5 s"), (1767225623, "On 2026-01-01 at 00:00:23 UTC")]
)
def test_moments(at: float, text: str) -> None:
    assert moment(at) == text


def test_fails_for_a_job_nobody_knows() -> None:
    with pytest.raises(JobError, match="job 'x' is unknown"):
        explain(Lab(1, share("A", 1)).scheduler, "x")


def test_no_victims_in_its_own_share_where_in_share_preemption_is_off() -> None:
    lab = Lab(1, share("A", 1))
    lab.submit("low", "A", priority=0)
    lab.submit("high", "A", priority=9)
    assert explain(lab.scheduler, "high").would_preempt == []

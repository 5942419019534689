"""The quota policy as a value, and a scheduler that executes it.

Standard library only: no clock, no thread, no network.
"""

from quota_scheduler.assumptions import Assumptions, HeadOfLine, QueueTime, VictimOrder
from quota_scheduler.decision import Decision, Victim
from quota_scheduler.demand import Demand, demand_from_payload, make_demand
from quota_scheduler.exceptions import (
    DocumentError,
    JobError,
    PayloadError,
    PolicyError,
    QuotaSchedulerError,
)
from quota_scheduler.findings import Finding, Level
from quota_scheduler.job import Job
from quota_scheduler.job_state import JobState, PreemptionKind
from quota_scheduler.outcome import Outcome, OutcomeKind
from quota_scheduler.policy import UNLIMITED, QuotaPolicy, QuotaShare, ResourceSharing, SharingStrategy
from quota_scheduler.policy_document import dump_policy, load_policy
from quota_scheduler.policy_rules import check_policy
from quota_scheduler.retries import ExitRule, RetryStrategy
from quota_scheduler.scheduler import Scheduler
from quota_scheduler.time_limits import TimeLimit

__all__ = [
    "UNLIMITED",
    "Assumptions",
    "Decision",
    "Demand",
    "DocumentError",
    "ExitRule",
    "Finding",
    "HeadOfLine",
    "Job",
    "JobError",
    "JobState",
    "Level",
    "Outcome",
    "OutcomeKind",
    "PayloadError",
    "PolicyError",
    "PreemptionKind",
    "QueueTime",
    "QuotaPolicy",
    "QuotaSchedulerError",
    "QuotaShare",
    "ResourceSharing",
    "RetryStrategy",
    "Scheduler",
    "SharingStrategy",
    "TimeLimit",
    "Victim",
    "VictimOrder",
    "check_policy",
    "demand_from_payload",
    "dump_policy",
    "load_policy",
    "make_demand",
]

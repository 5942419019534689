"""The rules in words: what each is about and how a finding of it is mended.

QM001 to QM015 are those of contract.md section 6, QM-A15 is of section 5; QM-W are thresholds of a what-if, QM-F the
form of files.
"""

from __future__ import annotations

from dataclasses import dataclass

from quota_scheduler.findings import Level

__all__ = ["RULES", "RuleText"]


@dataclass(frozen=True)
class RuleText:
    """A rule as reports describe it.

    Attributes
    ----------
    title : str
        What the rule forbids or tells.
    level : Level
        Level of its findings.
    mend : str
        What to do about a finding.
    source : str
        Where the rule is from: a page of the AWS Batch guide or API, a section of the contract, or the project itself.
    """

    title: str
    level: Level
    mend: str
    source: str


_ERROR, _WARNING, _NOTE = Level.ERROR, Level.WARNING, Level.NOTE

RULES: dict[str, RuleText] = {
    "QM001": RuleText(
        "Name empty, too long or with characters that are not allowed",
        _ERROR,
        "Use 1 to 128 characters of A-Z a-z 0-9 - _.",
        "API CreateQuotaShare, CreateJobQueue (names)",
    ),
    "QM002": RuleText(
        "Capacity limits missing, too many, given twice, or below 1",
        _ERROR,
        "Give 1 to 5 capacity limits, one per instance type, each a whole number of instances from 1.",
        "create-quota-shares, create-quota-management-resources",
    ),
    "QM003": RuleText(
        "Capacity unit is not a SageMaker training instance type",
        _ERROR,
        "Name an instance type such as ml.g5.xlarge; NUM_INSTANCES does not go with quota management.",
        "create-quota-management-resources",
    ),
    "QM004": RuleText(
        "Too many quota shares in a job queue, or two of one name",
        _ERROR,
        "Keep to 20 quota shares a job queue and give each its own name.",
        "quota-shares, service_limits",
    ),
    "QM005": RuleText(
        "Capacity limit of a quota share beyond its service environment",
        _ERROR,
        "Lower the share's limit, or add the instances to the service environment.",
        "contract.md section 6; such a job is blocked (sm_job_stuck_in_runnable_misconfiguration)",
    ),
    "QM006": RuleText(
        "Sharing strategy and borrow limit that do not go together",
        _ERROR,
        "Use RESERVE, LEND or LEND_AND_BORROW; the last one takes a borrow limit of -1 or more, the others none.",
        "quota-shares, API CreateQuotaShare",
    ),
    "QM007": RuleText(
        "Job queue, scheduling policy and service environment that do not go together",
        _ERROR,
        "Connect a SAGEMAKER_TRAINING queue to a policy with quotaSharePolicy and an environment of its own.",
        "create-quota-management-resources",
    ),
    "QM008": RuleText(
        "Job state time limit that AWS Batch refuses",
        _ERROR,
        "Use a documented reason, state RUNNABLE, action TERMINATE and 600 to 86,400 seconds.",
        "API JobStateTimeLimitAction, sm_job_stuck_in_runnable_misconfiguration",
    ),
    "QM009": RuleText(
        "Capacity limits add up to more than the service environment has",
        _WARNING,
        "Lower shares' limits or raise the environment's, unless overcommitment is meant.",
        "contract.md section 6; assumption A5",
    ),
    "QM010": RuleText(
        "Capacity that no quota share can reach",
        _WARNING,
        "Raise a share's limit or lower the environment's.",
        "contract.md section 6; assumption A2",
    ),
    "QM011": RuleText(
        "Share that borrows, with nobody to borrow from",
        _WARNING,
        "Use LEND for it, or let another share lend the same instance type.",
        "contract.md section 6; quota-shares (RESERVE never lends)",
    ),
    "QM012": RuleText(
        "Borrow limit beyond all that could ever be borrowed",
        _WARNING,
        "Lower the borrow limit, or raise the limits of shares that lend.",
        "contract.md section 6; sm_job_stuck_in_runnable_misconfiguration",
    ),
    "QM013": RuleText(
        "Job queue without a quota share, or without a time limit for misconfigured jobs",
        _WARNING,
        "Add a quota share, and time limits for both MISCONFIGURATION reasons.",
        "contract.md section 6; sm_job_stuck_in_runnable_misconfiguration",
    ),
    "QM014": RuleText(
        "IAM statement whose wildcard reaches quota shares of other teams",
        _ERROR,
        "Name the job queue and each quota share by its whole ARN, as grant_submit does.",
        "contract.md section 6; service authorization reference (ARNs of quota shares)",
    ),
    "QM015": RuleText(
        "Check skipped for a value that is known only at deployment",
        _NOTE,
        "Write the value out where the check matters.",
        "contract.md section 6",
    ),
    "QM-A15": RuleText(
        "Deployed queue differs from what is declared",
        _ERROR,
        "Deploy the declaration again, or take the change over into it.",
        "contract.md section 5",
    ),
    "QM-W01": RuleText(
        "Change of policy makes jobs of a share wait longer than allowed",
        _ERROR,
        "Give the share more capacity or borrowing, or allow a larger --max-wait-growth.",
        "a threshold of the project's own",
    ),
    "QM-W02": RuleText(
        "Change of policy leaves jobs that are never dispatched",
        _ERROR,
        "Give their share a limit that the largest of them fits, borrowing included.",
        "a threshold of the project's own",
    ),
    "QM-W03": RuleText(
        "Change of policy makes more preemptions than allowed",
        _ERROR,
        "Borrow less or turn in-share preemption off, or allow a larger --max-preemption-growth.",
        "a threshold of the project's own",
    ),
    "QM-W04": RuleText(
        "Change of policy loses more utilisation than allowed",
        _ERROR,
        "Let shares lend what they leave idle, or allow a larger --max-utilisation-loss.",
        "a threshold of the project's own",
    ),
    "QM-F01": RuleText(
        "File that is not well-formed YAML or JSON in UTF-8",
        _ERROR,
        "Mend the syntax at this place.",
        "the form of the project's own files",
    ),
    "QM-F02": RuleText(
        "File that is too large or nested too deep",
        _ERROR,
        "Keep to 10 MB, 100 levels and 500,000 values; each use of a YAML alias counts.",
        "the form of the project's own files",
    ),
    "QM-F03": RuleText(
        "Key that is given twice",
        _ERROR,
        "Give each key once.",
        "the form of the project's own files",
    ),
    "QM-F04": RuleText(
        "Key that is not known here",
        _ERROR,
        "Use one of the keys the message names, or leave it out.",
        "the form of the project's own files",
    ),
    "QM-F05": RuleText(
        "Key that is missing",
        _ERROR,
        "Add the key.",
        "the form of the project's own files",
    ),
    "QM-F06": RuleText(
        "Value of another type or form than its key takes",
        _ERROR,
        "Write the value in the form the message names.",
        "the form of the project's own files",
    ),
    "QM-F07": RuleText(
        "Parts of a deployment file that contradict each other",
        _ERROR,
        "Change one of the two.",
        "the form of the project's own files",
    ),
    "QM-F08": RuleText(
        "File of a kind that is not taken",
        _ERROR,
        "Give a policy file, a deployment file, a CloudFormation template or a cdk.out folder.",
        "the form of the project's own files",
    ),
}

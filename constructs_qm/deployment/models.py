"""The deployment file, ``quota.yaml``, as typed values: what is deployed to which team's account and Region.

Names are those of policy files and of the AWS Batch API. Only the form is checked here;
:mod:`constructs_qm.deployment.contradictions` looks at the whole, and :mod:`constructs_qm.validation.checks` asks the
rules QM001 to QM013.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from quota_scheduler.queue_rules import MAX_QUEUE_PRIORITY
from quota_scheduler.time_limits import MAX_SECONDS, MIN_SECONDS, REASONS
from quota_scheduler.value_rules import MAX_PRIORITY

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "WORDS_OF_PATTERNS",
    "AlarmLevel",
    "Alarms",
    "Auditor",
    "AuditorAlarms",
    "Defaults",
    "Deployment",
    "Queue",
    "QueueSettings",
    "Region",
    "Share",
    "ShareSettings",
    "Submitter",
    "Team",
    "inherit",
]

_ROLE = r"^arn:aws[a-z-]*:iam::\d{12}:role/.+$"
_TOPIC = r"^arn:aws[a-z-]*:sns:[a-z0-9-]+:\d{12}:.+$"
_BUS = r"^arn:aws[a-z-]*:events:[a-z0-9-]+:\d{12}:event-bus/.+$"
_ACCOUNT = r"^\d{12}$"
_REGION = r"^[a-z]{2}(-[a-z]+)+-\d+$"
_TEAM = r"^[A-Za-z][A-Za-z0-9_-]*$"

WORDS_OF_PATTERNS = {
    _ROLE: "the ARN of an IAM role such as arn:aws:iam::111111111111:role/vision",
    _TOPIC: "the ARN of an SNS topic such as arn:aws:sns:eu-west-1:111111111111:operators",
    _BUS: "the ARN of an event bus such as arn:aws:events:eu-west-1:111111111111:event-bus/findings",
    _ACCOUNT: 'an account id of 12 digits such as "111111111111"',
    _REGION: "a Region such as eu-west-1",
    _TEAM: "a team name that begins with a letter, of A-Z a-z 0-9 - _",
}
"""What a text that has to match a pattern is, for people."""

_State = Literal["ENABLED", "DISABLED"]
_Units = Annotated[
    dict[str, int],
    Field(json_schema_extra={"minProperties": 1, "maxProperties": 5, "additionalProperties": {"minimum": 1}}),
]
_TimeLimits = Annotated[
    dict[str, int],
    Field(
        json_schema_extra={
            "propertyNames": {"enum": list(REASONS)},
            "additionalProperties": {"type": "integer", "minimum": MIN_SECONDS, "maximum": MAX_SECONDS},
        }
    ),
]


class Model(BaseModel):
    """What all parts of the file have in common: no unknown key, no guessing of types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, alias_generator=to_camel)


class Submitter(Model):
    """A role that may submit jobs to a share, and see it.

    With `job_tags` it must set them on every job, and may change the priority of, and end, jobs that have them.
    """

    role: str = Field(pattern=_ROLE)
    max_priority: int | None = Field(
        default=None, ge=0, le=MAX_PRIORITY, description="Highest priority it may give a job."
    )
    training_role: str | None = Field(
        default=None, pattern=_ROLE, description="Role of its training jobs, which it may pass to SageMaker."
    )
    job_tags: dict[str, str] | None = None


class ShareSettings(Model):
    """What a share can inherit."""

    strategy: str | None = Field(default=None, json_schema_extra={"enum": ["RESERVE", "LEND", "LEND_AND_BORROW"]})
    borrow_limit: int | None = Field(
        default=None, description="Percent of each limit, -1 for unlimited; inherited by shares that borrow."
    )
    in_share_preemption: bool | None = None
    state: _State | None = None


class Share(ShareSettings):
    """A quota share and who may submit to it."""

    name: str
    limits: _Units = Field(description="Instances of each instance type.")
    submitters: list[Submitter] = []


class AlarmLevel(Model):
    """When an alarm rings: at the threshold or more, in each of so many periods running."""

    threshold: float = Field(gt=0, description="Jobs a period, or seconds for waitingTime.")
    period_seconds: int = Field(default=300, ge=60, multiple_of=60)
    periods: int = Field(default=1, ge=1)


class Part(Model):
    """A part of a queue's settings of which every key is inherited by itself."""


class Alarms(Part):
    """Alarms of a queue; each has a default of its own, and is off where it is false."""

    topic: str | None = Field(default=None, pattern=_TOPIC, description="SNS topic that is told.")
    preempted_jobs: AlarmLevel | Literal[False] | None = None
    failed_jobs: AlarmLevel | Literal[False] | None = None
    waiting_time: AlarmLevel | Literal[False] | None = None
    blocked_queue: AlarmLevel | Literal[False] | None = None


class AuditorAlarms(Part):
    """Alarms of an auditor; each rings at the first in 5 minutes by default, and is off where it is false."""

    topic: str | None = Field(
        default=None, pattern=_TOPIC, description="SNS topic that is told; that of the queue's alarms by default."
    )
    violations: AlarmLevel | Literal[False] | None = None
    dead_letters: AlarmLevel | Literal[False] | None = None
    judge_errors: AlarmLevel | Literal[False] | None = None


class Auditor(Part):
    """How what becomes of a queue's policy is audited; there is an auditor where this is given."""

    enabled: bool | None = Field(default=None, description="False where a queue isn't to be audited after all.")
    rate_minutes: int | None = Field(default=None, ge=1, description="How often is judged; 5 by default.")
    delivery: Literal["complete", "lossy"] | None = None
    decision_lag_seconds: int | None = Field(default=None, ge=0)
    tolerance_seconds: int | None = Field(default=None, ge=0)
    lateness_seconds: int | None = Field(default=None, ge=0)
    archive_days: Annotated[int, Field(ge=1)] | Literal[False] | None = Field(
        default=None, description="How long events are kept to be audited again; 365 by default."
    )
    findings_topic: str | None = Field(
        default=None, pattern=_TOPIC, description="SNS topic that gets violations as messages."
    )
    findings_bus: str | None = Field(
        default=None, pattern=_BUS, description="Event bus of the Region that gets findings; one is made by default."
    )
    alarms: AuditorAlarms | None = None


class QueueSettings(Model):
    """What a queue can inherit."""

    priority: int | None = Field(default=None, ge=0, le=MAX_QUEUE_PRIORITY)
    state: _State | None = None
    time_limits: _TimeLimits | None = Field(
        default=None, description="Seconds after which a job that stays RUNNABLE for a reason is ended."
    )
    alarms: Alarms | None = None
    auditor: Auditor | None = None


class Queue(QueueSettings):
    """A job queue with its service environment and its shares."""

    name: str
    environment: _Units = Field(description="Instances of each instance type there are to share.")
    shares: list[Share]


class Defaults(Model):
    """What queues and shares inherit where they say nothing themselves."""

    queue: QueueSettings = QueueSettings()
    share: ShareSettings = ShareSettings()


class Region(Model):
    """What is deployed to one Region of an account: one stack."""

    defaults: Defaults = Defaults()
    queues: list[Queue]


class Team(Model):
    """An account and its Regions: one stage, deployed by ``cdk deploy 'TEAM/*'``."""

    account: str | None = Field(
        default=None, pattern=_ACCOUNT, description="In quotation marks; the account of the credentials by default."
    )
    defaults: Defaults = Defaults()
    regions: dict[Annotated[str, Field(pattern=_REGION)], Region]


class Deployment(Model):
    """A deployment file."""

    version: Literal[1] = 1
    defaults: Defaults = Defaults()
    teams: dict[Annotated[str, Field(pattern=_TEAM, max_length=64)], Team]

    def queues(self) -> Iterator[tuple[str, str, int, Queue]]:
        """Yield team, Region, index and queue of every queue, with what it inherits."""
        for team_name, team in self.teams.items():
            for region_name, region in team.regions.items():
                levels = (region.defaults, team.defaults, self.defaults)
                for index, queue in enumerate(region.queues):
                    shares = [_inherit_share(share, levels) for share in queue.shares]
                    whole = inherit(queue, *(level.queue for level in levels))
                    yield team_name, region_name, index, whole.model_copy(update={"shares": shares})


_M = TypeVar("_M", bound=Model)


def inherit(own: _M, *above: Model) -> _M:
    """Return `own` with what it leaves open taken from the nearest above it that says something.

    Parts, such as the alarms, are inherited key by key.
    """
    filled: dict[str, Any] = {}
    for name in type(own).model_fields:
        values = [value for model in (own, *above) if (value := getattr(model, name, None)) is not None]
        parts = [value for value in values if isinstance(value, Part)]
        if values:
            filled[name] = inherit(*parts) if isinstance(values[0], Part) else values[0]
    return own.model_copy(update=filled)


def _inherit_share(share: Share, levels: tuple[Defaults, ...]) -> Share:
    whole = inherit(share, *(level.share for level in levels))
    borrows = whole.strategy == "LEND_AND_BORROW"
    return whole if borrows else whole.model_copy(update={"borrow_limit": share.borrow_limit})

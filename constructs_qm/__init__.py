"""Typed AWS CDK constructs for AWS Batch quota management."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from constructs_qm._version import __version__

if TYPE_CHECKING:
    from constructs_qm.exceptions import PropError
    from constructs_qm.preemption_auditor import PreemptionAuditor
    from constructs_qm.queue_alarms import AlarmSetting, QueueAlarms
    from constructs_qm.queue_dashboard import QueueDashboard
    from constructs_qm.quota_managed_queue import QuotaManagedQueue
    from constructs_qm.quota_share import QuotaShare, QuotaShareBase
    from constructs_qm.quota_share_policy import QuotaSharePolicy, QuotaSharePolicyBase
    from constructs_qm.resource_sharing import ResourceSharing, SharingStrategy
    from constructs_qm.service_environment import ServiceEnvironment, ServiceEnvironmentBase
    from constructs_qm.time_limits import (
        MISCONFIGURATION_LIMITS,
        InsufficientInstanceCapacity,
        JobStateTimeLimit,
        QuotaManagementLimitExceeded,
        ServiceEnvironmentMaxResource,
    )
    from constructs_qm.training_job_queue import TrainingJobQueue, TrainingJobQueueBase
    from quota_scheduler import PolicyError

__all__ = [
    "MISCONFIGURATION_LIMITS",
    "AlarmSetting",
    "InsufficientInstanceCapacity",
    "JobStateTimeLimit",
    "PolicyError",
    "PreemptionAuditor",
    "PropError",
    "QueueAlarms",
    "QueueDashboard",
    "QuotaManagedQueue",
    "QuotaManagementLimitExceeded",
    "QuotaShare",
    "QuotaShareBase",
    "QuotaSharePolicy",
    "QuotaSharePolicyBase",
    "ResourceSharing",
    "ServiceEnvironment",
    "ServiceEnvironmentBase",
    "ServiceEnvironmentMaxResource",
    "SharingStrategy",
    "TrainingJobQueue",
    "TrainingJobQueueBase",
    "__version__",
]

_MODULES = {
    "AlarmSetting": "constructs_qm.queue_alarms",
    "InsufficientInstanceCapacity": "constructs_qm.time_limits",
    "MISCONFIGURATION_LIMITS": "constructs_qm.time_limits",
    "JobStateTimeLimit": "constructs_qm.time_limits",
    "PolicyError": "quota_scheduler",
    "PreemptionAuditor": "constructs_qm.preemption_auditor",
    "PropError": "constructs_qm.exceptions",
    "QueueAlarms": "constructs_qm.queue_alarms",
    "QueueDashboard": "constructs_qm.queue_dashboard",
    "QuotaManagedQueue": "constructs_qm.quota_managed_queue",
    "QuotaManagementLimitExceeded": "constructs_qm.time_limits",
    "QuotaShare": "constructs_qm.quota_share",
    "QuotaShareBase": "constructs_qm.quota_share",
    "QuotaSharePolicy": "constructs_qm.quota_share_policy",
    "QuotaSharePolicyBase": "constructs_qm.quota_share_policy",
    "ResourceSharing": "constructs_qm.resource_sharing",
    "ServiceEnvironment": "constructs_qm.service_environment",
    "ServiceEnvironmentBase": "constructs_qm.service_environment",
    "ServiceEnvironmentMaxResource": "constructs_qm.time_limits",
    "SharingStrategy": "constructs_qm.resource_sharing",
    "TrainingJobQueue": "constructs_qm.training_job_queue",
    "TrainingJobQueueBase": "constructs_qm.training_job_queue",
}


if not TYPE_CHECKING:  # a type checker would take any name for granted

    def __getattr__(name: str) -> object:
        """Import a construct when it is first asked for.

        The command line and the endpoint are in this package too, and aws_cdk takes seconds to import.
        """
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_MODULES[name]), name)

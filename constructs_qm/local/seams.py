"""Where we take moto apart: every place is checked first, so that a changed moto fails loudly."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from moto.batch import models
from moto.batch.responses import BatchResponse
from moto.core.base_backend import AccountSpecificBackend, BackendDict, BaseBackend

from constructs_qm.local import event_sources, eventbridge, iam, lambdas, metrics, speed, threads, training_jobs
from constructs_qm.local.backend import QuotaBatchBackend
from constructs_qm.local.cloudformation import stacks
from constructs_qm.local.current import set_current
from constructs_qm.local.patches import Patch, SeamError, apply, undo
from constructs_qm.local.schedules import Schedules

if TYPE_CHECKING:
    from constructs_qm.local.endpoint import Endpoint

__all__ = ["PATCHES", "SeamError", "install", "uninstall"]


PATCHES = [
    *event_sources.PATCHES,
    *eventbridge.PATCHES,
    *iam.PATCHES,
    *lambdas.PATCHES,
    *metrics.PATCHES,
    *speed.PATCHES,
    *stacks.PATCHES,
    *threads.PATCHES,
    *training_jobs.PATCHES,
]
_applied: list[tuple[Patch, Any]] = []


def install(endpoint: Endpoint) -> None:
    """Let moto send AWS Batch's requests to `endpoint`, and repair what it lacks.

    Raises
    ------
    RuntimeError
        Another endpoint is installed.
    SeamError
        moto has changed.
    """
    set_current(endpoint)
    try:
        _check_seams()
        _applied.extend(apply(PATCHES))
    except BaseException:
        set_current(None)
        raise
    _use(QuotaBatchBackend)
    endpoint.log.sinks.append(eventbridge.publish)
    endpoint.timelines.append(Schedules(endpoint))


def uninstall() -> None:
    """Give moto back as it was."""
    _use(models.BatchBackend)
    undo(_applied)
    set_current(None)


def _use(backend: type[models.BatchBackend]) -> None:
    """Let `backend` serve AWS Batch, also where moto made one before: what is in it stays."""
    models.batch_backends.backend = backend
    for account in models.batch_backends.values():
        account.backend = backend
        for instance in account.values():
            instance.__class__ = backend


def _check_seams() -> None:
    def require(fits: bool, what: str) -> None:
        if not fits:
            raise SeamError(f"moto has changed: {what}; use moto>=5.2,<5.3")

    require(isinstance(models.batch_backends, BackendDict), "batch_backends is no BackendDict")
    require(models.batch_backends.backend is models.BatchBackend, "batch_backends.backend isn't BatchBackend")
    require("backend" in inspect.signature(AccountSpecificBackend).parameters, "AccountSpecificBackend")
    require(isinstance(inspect.getattr_static(BaseBackend, "_url_module"), property), "BaseBackend._url_module")
    require("_dispatch" in vars(BatchResponse.__base__ or object), "BaseResponse._dispatch")
    parameters = inspect.signature(BatchResponse.setup_class).parameters
    require("use_raw_body" in parameters, "BaseResponse.setup_class(use_raw_body=)")
    require(
        list(inspect.signature(models.BatchBackend.describe_job_queues).parameters) == ["self", "job_queues"],
        "BatchBackend.describe_job_queues",
    )

"""moto's AWS Batch backend, extended: container Batch stays moto's, quota management is ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from moto.batch.models import BatchBackend

from constructs_qm.local import urls
from constructs_qm.local.current import current

if TYPE_CHECKING:
    from constructs_qm.local.state import BatchState

__all__ = ["QuotaBatchBackend"]


class QuotaBatchBackend(BatchBackend):
    """moto makes one for each account and Region; the state itself is the endpoint's."""

    @property
    def quota(self) -> BatchState:
        """Resources and jobs of quota management in this account and Region."""
        state = current().state(self.account_id, self.region_name, self.partition)
        state.container_queues = self._container_queues
        return state

    def reset(self) -> None:
        """Forget everything, as moto does when a mock starts or ends."""
        current().forget(self.account_id, self.region_name)
        super().reset()

    def _container_queues(self) -> list[dict[str, Any]]:
        return self.describe_job_queues()

    @property
    def _url_module(self) -> Any:
        return urls

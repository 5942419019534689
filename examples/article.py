"""The launch article's policy: background, medium and reserved work on three ``ml.g5.xlarge``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aws_cdk as cdk

from constructs_qm import QuotaManagedQueue, ResourceSharing

if TYPE_CHECKING:
    from constructs import Construct

INSTANCE_TYPE = "ml.g5.xlarge"


class ArticleStack(cdk.Stack):
    """One quota-management queue and its three quota shares."""

    def __init__(self, scope: Construct, id: str) -> None:
        super().__init__(scope, id, description="AWS Batch quota management: the launch article's policy")
        queue = QuotaManagedQueue(self, "Training", capacity={INSTANCE_TYPE: 3})
        # Background jobs: they borrow what is idle, the most important first; all of them checkpoint.
        queue.add_quota_share(
            "QS1",
            capacity={INSTANCE_TYPE: 1},
            sharing=ResourceSharing.lend_and_borrow(limit_percent=200),
            in_share_preemption=True,
        )
        cdk.Validations.of(queue).acknowledge(
            cdk.Acknowledgment(
                id="constructs-qm:QM012",
                reason="the article's figure: it also leaves room for shares that may lend later",
            )
        )
        # Medium priority: would rather wait than be preempted.
        queue.add_quota_share("QS2", capacity={INSTANCE_TYPE: 1}, sharing=ResourceSharing.lend())
        # Starts as fast as possible and is never preempted.
        queue.add_quota_share("QS3", capacity={INSTANCE_TYPE: 1}, sharing=ResourceSharing.reserve())


if __name__ == "__main__":
    app = cdk.App()
    ArticleStack(app, "Article")
    app.synth()

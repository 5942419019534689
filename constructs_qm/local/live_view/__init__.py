"""The live view, a page at ``/_quota``: what a queue does, what it did and why, and what to do next.

It decides nothing: figures, reasons and verdicts are the scheduler's and the auditor's, and what is
done from the page are operations of the Batch API.
"""

from constructs_qm.local.live_view.routes import PAGE, LiveView

__all__ = ["PAGE", "LiveView"]

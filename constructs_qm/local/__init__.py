"""An AWS endpoint for quota management on a laptop: moto, extended.

``mock_quota_management`` answers inside the process, ``server.start`` over HTTP.
Needs the extra ``local``.
"""

from constructs_qm.extras import require

require("local", "the embedded endpoint")

from constructs_qm.local.clock import RealClock, SteppedClock
from constructs_qm.local.endpoint import Endpoint
from constructs_qm.local.faults import Faults
from constructs_qm.local.mock import mock_quota_management
from constructs_qm.local.rogue import Rogue
from constructs_qm.local.scripts import Script
from constructs_qm.local.settings import Settings

__all__ = [
    "Endpoint",
    "Faults",
    "RealClock",
    "Rogue",
    "Script",
    "Settings",
    "SteppedClock",
    "mock_quota_management",
]

"""Fixtures for pytest: put ``pytest_plugins = ["constructs_qm.local.pytest_plugin"]`` into ``conftest.py``.

Everything starts anew with every test. Settings are overridden by a fixture of the test's own::

    @pytest.fixture
    def quota_settings() -> Settings:
        return Settings(preemption_seconds=5)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from constructs_qm.local.clock import SteppedClock
from constructs_qm.local.mock import mock_quota_management
from constructs_qm.local.server import start
from constructs_qm.local.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from constructs_qm.local.endpoint import Endpoint
    from constructs_qm.local.server import Server

__all__ = ["quota_clock", "quota_endpoint", "quota_server", "quota_settings"]


@pytest.fixture
def quota_settings() -> Settings:
    """Give the settings of the endpoint; override it to choose others."""
    return Settings()


@pytest.fixture
def quota_clock() -> SteppedClock:
    """Give the clock of the endpoint: ``quota_clock.advance(seconds)`` lets time pass."""
    return SteppedClock()


@pytest.fixture
def quota_endpoint(quota_clock: SteppedClock, quota_settings: Settings) -> Iterator[Endpoint]:
    """Answer for AWS in this process, Batch's quota management included: boto3 clients need nothing more."""
    with mock_quota_management(clock=quota_clock, settings=quota_settings, seed=0) as endpoint:
        yield endpoint


@pytest.fixture
def quota_server(quota_clock: SteppedClock, quota_settings: Settings) -> Iterator[Server]:
    """Answer over HTTP, for other processes: give them ``quota_server.url``."""
    with start(clock=quota_clock, settings=quota_settings, seed=0) as server:
        yield server

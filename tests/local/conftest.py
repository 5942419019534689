from __future__ import annotations

import pytest

pytest.importorskip("moto", reason="needs the extra `local`")

from typing import TYPE_CHECKING

from local.world import World
from support.browser import browser  # noqa: F401 - a fixture

from constructs_qm.local import SteppedClock, mock_quota_management
from constructs_qm.local.server import start

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True, scope="session")
def _no_real_aws() -> Iterator[None]:
    """Whatever a test does wrong, it reaches no real account."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_BATCH", "AWS_SESSION_TOKEN"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture
def world() -> Iterator[World]:
    """An endpoint in this process, on a stepped clock."""
    with mock_quota_management(seed=1) as endpoint:
        yield World(endpoint)


@pytest.fixture
def served() -> Iterator[World]:
    """An endpoint over HTTP, on a stepped clock."""
    with start(clock=SteppedClock(), seed=1) as server:
        yield World(server.endpoint, server.url)


@pytest.fixture(params=["in-process", "http"])
def either(request: pytest.FixtureRequest) -> World:
    """The same endpoint both ways."""
    name = "world" if request.param == "in-process" else "served"
    fixture: World = request.getfixturevalue(name)
    return fixture

"""A queue that can't be looked up is one line with what to do about it."""

from __future__ import annotations

import pytest

REGION = {"AWS_DEFAULT_REGION": "us-east-1"}
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
NOBODY = "http://127.0.0.1:1"
COMMANDS = [["explain", "--job", "j"], ["validate"]]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(
    ("variables", "url", "says"),
    [
        ({}, NOBODY, "specify a region: set AWS_DEFAULT_REGION"),
        (REGION, NOBODY, "Unable to locate credentials: set AWS_PROFILE"),
        (REGION | CREDENTIALS, "nonsense", "Invalid endpoint: nonsense"),
        (REGION | {"AWS_PROFILE": "nobody"}, NOBODY, "(nobody) could not be found: set AWS_PROFILE to one"),
    ],
)
def test_fails_with_one_line(
    run, monkeypatch: pytest.MonkeyPatch, tmp_path, command: list[str], variables: dict[str, str], url: str, says: str
) -> None:
    for name in ("AWS_DEFAULT_REGION", "AWS_REGION", "AWS_PROFILE", *CREDENTIALS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("boto3.DEFAULT_SESSION", None)
    status, out, err = run(*command, "--queue", "q", "--endpoint-url", url)
    assert (status, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1

"""Lambda functions really run: moto keeps them, and calls them through here instead of through Docker."""

from __future__ import annotations

import base64
import importlib.util
import json
import logging
import shutil
import tempfile
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moto.awslambda.models import LambdaFunction
from moto.awslambda.utils import get_backend

from constructs_qm.local.client_env import client_environment
from constructs_qm.local.current import current
from constructs_qm.local.http_front import url_of
from constructs_qm.local.lambda_process import Code, LambdaProcess
from constructs_qm.local.metrics import publish_embedded
from constructs_qm.local.patches import Patch
from constructs_qm.local.runtime_api import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from constructs_qm.local.endpoint import Endpoint

__all__ = ["PATCHES", "Lambdas", "invoke", "lambdas_of"]

_log = logging.getLogger(__name__)

RETRIES = (60, 120)
"""Seconds after which a failed asynchronous call is tried again (AWS Lambda Developer Guide, retries)."""


class Lambdas:
    """The running functions of an endpoint.

    Parameters
    ----------
    endpoint : Endpoint
        Its stop ends them.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._folder = Path(tempfile.mkdtemp(prefix="batch-quota-lambda-"))
        self._processes: dict[str, LambdaProcess] = {}
        self._lock = threading.Lock()
        self._warned: set[str] = set()
        endpoint.closers.append(self._stop)

    def invoke(self, function: LambdaFunction, payload: bytes) -> Outcome:
        """Call a function and wait for what it returns."""
        if not (function.run_time or "").startswith("python"):
            return _refuse(f"runtime {function.run_time} can't be run here: use a Python runtime")
        if importlib.util.find_spec("awslambdaric") is None:
            return _refuse("running functions needs the package awslambdaric: install it")
        outcome, lines = self._process(function).invoke(payload)
        if lines:
            function.logs_backend.ensure_log_group(function.logs_group_name)
            function.save_logs("\n".join(lines))
            publish_embedded(lines, function.account_id, function.region)
        return outcome

    def _process(self, function: LambdaFunction) -> LambdaProcess:
        code = self._code(function)
        with self._lock:
            process = self._processes.get(function.function_arn)
            if process is None or process.code != code:
                if process is not None:
                    process.stop()
                folder = self._folder / str(len(list(self._folder.iterdir())))
                folder.mkdir()
                process = self._processes[function.function_arn] = LambdaProcess(code, folder)
            return process

    def _code(self, function: LambdaFunction) -> Code:
        name, region = function.function_name, function.region
        environment = {
            **client_environment(url_of(self._endpoint), region),
            "AWS_EXECUTION_ENV": f"AWS_Lambda_{function.run_time}",
            "AWS_LAMBDA_FUNCTION_NAME": name,
            "AWS_LAMBDA_FUNCTION_VERSION": str(function.version),
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory_size),
            "AWS_LAMBDA_LOG_GROUP_NAME": function.logs_group_name,
            "AWS_LAMBDA_LOG_STREAM_NAME": "local",
            "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
            **function.environment_vars,
        }
        return Code(
            function.function_arn,
            function.handler or "",
            function.code_bytes,
            tuple(self._layers(function)),
            float(function.timeout),
            tuple(sorted((key, str(value)) for key, value in environment.items())),
        )

    def _layers(self, function: LambdaFunction) -> list[bytes]:
        """Return the layers there are; public ones are another account's and not here."""
        found = []
        for layer in function.layers:
            arn = layer["Arn"]
            version = _layer_version(function, arn)
            if version is not None:
                found.append(version)
            elif arn not in self._warned:
                self._warned.add(arn)
                _log.warning("layer %s is ignored: what it holds has to be installed here", arn)
        return found

    def _stop(self) -> None:
        with self._lock:
            for process in self._processes.values():
                process.stop()
            self._processes.clear()
        shutil.rmtree(self._folder, ignore_errors=True)


def lambdas_of(endpoint: Endpoint) -> Lambdas:
    """Return the running functions of an endpoint; there are none until the first call."""
    if endpoint.lambdas is None:
        endpoint.lambdas = Lambdas(endpoint)
    return endpoint.lambdas


def invoke(function: LambdaFunction, payload: bytes, retries: tuple[int, ...] = RETRIES) -> None:
    """Call a function asynchronously; one that fails is called again, as Lambda does."""
    endpoint = current()
    outcome = lambdas_of(endpoint).invoke(function, payload)
    if outcome.failed:
        _log.warning("%s failed: %s", function.function_name, outcome.body.decode(errors="replace")[:500])
        if retries:
            endpoint.later(retries[0], partial(invoke, function, payload, retries[1:]))


def _refuse(why: str) -> Outcome:
    return Outcome(json.dumps({"errorMessage": why, "errorType": "Runtime.Unknown"}).encode(), failed=True)


def _layer_version(function: LambdaFunction, arn: str) -> bytes | None:
    version = get_backend(function.account_id, function.region).layers_versions_by_arn(arn)
    code: bytes | None = getattr(version, "code_bytes", None)
    return code


def _layers_data(original: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    """Take layers of other accounts for what they say they are: a public layer can't be looked at from here."""

    def get_layers_data(self: LambdaFunction, layers_versions_arns: list[str]) -> list[Any]:
        foreign = [arn for arn in layers_versions_arns if arn.split(":")[4:5] != [self.account_id]]
        own = original(self, [arn for arn in layers_versions_arns if arn not in foreign])
        return [*own, *({"Arn": arn, "CodeSize": 0} for arn in foreign)]

    return get_layers_data


def _invoke(_: object) -> Any:
    def run(self: LambdaFunction, body: Any, request_headers: Any, response_headers: Any) -> str | bytes:
        payload = body.encode() if isinstance(body, str) else bytes(body or b"")
        payload = payload or b"{}"
        kind = request_headers.get("X-Amz-Invocation-Type", "RequestResponse")
        if kind == "DryRun":
            return b""
        if kind == "Event":
            current().later(0, partial(invoke, self, payload))
            return b""
        outcome = lambdas_of(current()).invoke(self, payload)
        if outcome.failed:
            response_headers["x-amz-function-error"] = "Unhandled"
        response_headers["x-amz-log-result"] = base64.b64encode(b"").decode()
        return outcome.body

    return run


PATCHES = [
    Patch(LambdaFunction, "invoke", "self body request_headers response_headers", _invoke),
    Patch(LambdaFunction, "_get_layers_data", "self layers_versions_arns", _layers_data),
]

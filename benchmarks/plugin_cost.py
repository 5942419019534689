"""Claim: the validation plugin adds less than 10 % to the synthesis of an app with 20 quota shares.

Seconds are those of the processor, of the program and of the Node process that runs the CDK; runs with and without
the plugin take turns. The CDK's own template validator is off: it would add more than ten seconds to each of them.
A whole run includes the start of Python and Node. The last figure leaves that out: the plugin's own code, as a part of
one more synthesis in a process that is warm.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
from typing import TYPE_CHECKING

from benchmarks.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUNDS, FURTHER = 9, 20

PROGRAM = """
import sys, time
import aws_cdk as cdk
from constructs_qm import QuotaManagedQueue, ResourceSharing

def plugins():
    from constructs_qm.validation import QuotaPolicyChecks

    class Timed(QuotaPolicyChecks):
        def validate(self, context):
            start = time.process_time()
            report = super().validate(context)
            print(time.process_time() - start)
            return report

    return [Timed()]

times, checked = map(int, sys.argv[1:])
for _ in range(times):
    app = cdk.App()
    queue = QuotaManagedQueue(cdk.Stack(app, "Stack"), "Training", capacity={"ml.g5.xlarge": 20})
    for number in range(20):
        queue.add_quota_share(f"s{number}", capacity={"ml.g5.xlarge": 1}, sharing=ResourceSharing.lend())
    cdk.Validations.of(app).add_plugins(*(plugins() if checked else []))
    app.synth()
"""


def measure() -> Iterator[Figure]:
    rounds = [(_run(1, checked=False)[0], _run(1)[0]) for _ in range(ROUNDS)]
    without = statistics.median(seconds for seconds, _ in rounds)
    ratio = statistics.median(seconds for _, seconds in rounds) / without
    yield Figure("run of a 20-share app", f"{without:.2f} s")
    yield Figure("the same with the plugin, as a multiple", f"{ratio:.3f}", "under 1.1", ratio < 1.1)
    seconds, within = _run(1 + FURTHER)
    further = (seconds - without * ratio) / FURTHER
    own = statistics.median(within)
    yield Figure("one more synthesis in the same process", f"{further * 1000:.0f} ms")
    yield Figure("the plugin's own code, of that", f"{own / further:.1%}", "under 10 %", own / further < 0.1)


def _run(times: int, *, checked: bool = True) -> tuple[float, list[float]]:
    """Return the processor's seconds of a process that synthesises so often, and those within the plugin each time."""
    environment = {**os.environ, "CDK_VALIDATION": "false", "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "20"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", PROGRAM, str(times), str(int(checked))]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, [float(line) for line in done.stdout.split()]

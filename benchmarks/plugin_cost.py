"""Claim: the validation plugin adds less than 10 % to the synthesis of an app with 20 quota shares.

Seconds are those of the processor, of the program and of the Node process that runs the CDK. Runs without a plugin,
with one that checks nothing and with ours take turns. The CDK's own template validator is off: it would add more than
ten seconds to each of them. "Each further" is what one more synthesis takes in a process that is warm, which leaves
out the start that every real run has; what a plugin that checks nothing costs there is the CDK's own work.
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

ROUNDS, FURTHER = 5, 10

PROGRAM = """
import sys
import aws_cdk as cdk
import jsii
from constructs_qm import QuotaManagedQueue, ResourceSharing

kind, times = sys.argv[1:]
if kind == "ours":
    from constructs_qm.validation import QuotaPolicyChecks as Plugin
elif kind == "idle":
    @jsii.implements(cdk.IPolicyValidationPlugin)
    class Plugin:
        name, version, rule_ids = "idle", "1.0.0", []
        def validate(self, context):
            return cdk.PolicyValidationPluginReport(success=True, violations=[])

for _ in range(int(times)):
    app = cdk.App()
    queue = QuotaManagedQueue(cdk.Stack(app, "Stack"), "Training", capacity={"ml.g5.xlarge": 20})
    for number in range(20):
        queue.add_quota_share(f"s{number}", capacity={"ml.g5.xlarge": 1}, sharing=ResourceSharing.lend())
    if kind != "none":
        cdk.Validations.of(app).add_plugins(Plugin())
    app.synth()
"""


def measure() -> Iterator[Figure]:
    kinds = ("none", "idle", "ours")
    rounds = [
        {(kind, times): _seconds(kind, times) for times in (1, 1 + FURTHER) for kind in kinds} for _ in range(ROUNDS)
    ]
    median = {key: statistics.median(seconds[key] for seconds in rounds) for key in rounds[0]}
    once = {kind: median[kind, 1] for kind in kinds}
    further = {kind: (median[kind, 1 + FURTHER] - median[kind, 1]) / FURTHER for kind in kinds}
    yield Figure("run of a 20-share app", f"{once['none']:.2f} s")
    ratio = once["ours"] / once["none"]
    yield Figure("the same with the plugin, as a multiple", f"{ratio:.3f}", "under 1.1", ratio < 1.1)
    yield Figure("each further synthesis in one process", f"{further['none'] * 1000:.0f} ms")
    yield Figure("with a plugin that checks nothing, as a multiple", f"{further['idle'] / further['none']:.3f}")
    yield Figure("with ours, as a multiple", f"{further['ours'] / further['none']:.3f}")


def _seconds(kind: str, times: int) -> float:
    """Return the processor's seconds of one process that synthesises so many apps."""
    environment = {**os.environ, "CDK_VALIDATION": "false", "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "20"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", PROGRAM, kind, str(times)], env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

"""Run the benchmarks and print their table: ``python -m benchmarks [--trace FILE] [--only NAME]``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from benchmarks import decision, memory, plugin_cost, scale, simulate_speed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.figure import Figure

BENCHMARKS: dict[str, Callable[[str | None], Iterator[Figure]]] = {
    "simulate_speed": simulate_speed.measure,
    "scale": lambda _: scale.measure(),
    "memory": lambda _: memory.measure(),
    "decision": lambda _: decision.measure(),
    "plugin_cost": lambda _: plugin_cost.measure(),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--trace", help="workload of simulate_speed, a .csv or .csv.gz; without one it is generated")
    parser.add_argument("--only", choices=BENCHMARKS, help="run one benchmark")
    options = parser.parse_args()
    print("| benchmark | measured | figure | target | met |")
    print("|---|---|---|---|---|")
    for name, measure in BENCHMARKS.items():
        if options.only not in (None, name):
            continue
        for figure in measure(options.trace):
            print(f"| {name} | {figure.what} | {figure.value} | {figure.target} | {figure.verdict} |", flush=True)


if __name__ == "__main__":
    main()

"""The benchmarks: `python -m benchmarks [detection parts growth …] [--quick]`; `--help` names them all."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from importlib import import_module

from rich.console import Console

from benchmarks.contestant import MODULES
from benchmarks.options import Options
from benchmarks.report import JSON, MARKDOWN, publish
from benchmarks.workloads import WORKLOADS

EMBEDDED = (
    "detection",
    "cores",
    "scaling",
    "parts",
    "by-hand",
    "growth",
    "latency",
    "startup",
    "compiling",
    "reading",
    "sharing",
    "sequences",
    "forms",
    "supply_chain",
    "ablation",
    "cliffs",
)
BENCHMARKS = (*EMBEDDED, "others", "spark", "spark-streaming")

QUICK = Options(
    events=100_000, runs=2, stream=1_000_000, spark=1_000_000, network=2_000, sends=2_000, live=(1_000, 10_000)
)
FULL = Options()


def main() -> int:
    chosen, options = _asked()
    console = Console()
    wrong = False
    for name in chosen:
        with console.status(f"{name}…"):
            result = import_module(f"benchmarks.{name.replace('-', '_')}").run(options)
        publish(result, console)
        wrong |= bool(result.wrong)
    console.print(f"Written to {JSON} and {MARKDOWN}.", style="dim", highlight=False, soft_wrap=True)
    return 1 if wrong else 0


def _asked() -> tuple[list[str], Options]:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measures Ensue, beside others.")
    parser.add_argument(
        "benchmarks",
        nargs="*",
        metavar="BENCHMARK",
        help=f"some of {', '.join(BENCHMARKS)}; else the usual ones",
    )
    parser.add_argument("--only", metavar="W1,W4", help="only these workloads")
    parser.add_argument("--contestants", metavar="NAMES", help=f"only these of {','.join(MODULES)}")
    parser.add_argument("--events", type=int, metavar="N", help="the length of the streams [1000000]")
    parser.add_argument("--keys", type=int, metavar="N", help="the keys in them [a hundredth of the events]")
    parser.add_argument("--runs", type=int, metavar="N", help="runs of which the best counts [5]")
    parser.add_argument("--stream", type=int, metavar="N", help="the length of the long stream [100000000]")
    parser.add_argument("--spark", type=int, metavar="N", help="the length of the streams on Spark [10000000]")
    parser.add_argument("--network", type=int, metavar="N", help="the length of the streams of ablation [10000]")
    parser.add_argument("--quick", action="store_true", help="a tenth of everything and less: to see that it works")
    asked = parser.parse_args()
    given = {name: getattr(asked, name) for name in ("events", "keys", "runs", "stream", "spark", "network")}
    options = replace(QUICK if asked.quick else FULL, **{name: n for name, n in given.items() if n is not None})
    if asked.only:
        options = replace(options, only=_names(parser, asked.only, WORKLOADS))
    if asked.contestants:
        options = replace(options, contestants=_names(parser, asked.contestants, MODULES))
    return list(_names(parser, ",".join(asked.benchmarks), BENCHMARKS)) or list(EMBEDDED), options


def _names(parser: argparse.ArgumentParser, text: str, known: object) -> tuple[str, ...]:
    names = tuple(name for name in text.lower().split(",") if name)
    unknown = [name for name in names if name not in known]
    if unknown:
        parser.error(f"there is no {', '.join(unknown)}; there is {', '.join(known)}")
    return names


if __name__ == "__main__":
    sys.exit(main())

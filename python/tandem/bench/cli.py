# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line: `tandem bench [APPLICATION…]`.

Exit status: 0; 1 where a build or a run failed, or a result was wrong; 2 for the user's mistake;
130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from rich.console import Console

from tandem.bench.experiment import (
    TARGET,
    Comparison,
    aborts_table,
    build_command,
    make_experiment,
    print_comparison,
)
from tandem.bench.sections import PROGRAMS, measure_sections, sections_table, sections_to_json
from tandem.bench.suite import (
    DEFAULT_VARIANTS,
    MACHINE_VARIANTS,
    ROWS,
    SIZES,
    STAMP_ROWS,
    VARIANTS,
    choose_rows,
    choose_variants,
    why_unavailable,
)
from tandem.errors import InterruptedRun, UserError
from tandem.experiment.parts import expand
from tandem.experiment.progress import Progress
from tandem.experiment.run import Settings, run_experiment
from tandem.experiment.sample import run_command
from tandem.files import check_target, write_text
from tandem.formats.published import Published
from tandem.formats.result import result_to_json
from tandem.paths import ROOT, prefix, work_folder
from tandem.program import guarded
from tandem.version import PrintVersion
from tandem.workload.steps import one_at_a_time

__all__ = ["SUMMARY", "main"]

PROGRAM = "tandem bench"
PROTOCOLS = ("mesi-snoop", "token-b", "sparse-directory", "flask", "mosaic", "flask-plus")
SUMMARY = "Compare the ways to run atomic sections on the STAMP-class suite"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message}; see {PROGRAM} --help")


def _number(least: int, most: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"'{text}' is not a number from {least} to {most}")
        return int(text)

    return parse


def _threads(text: str) -> tuple[int, ...]:
    words = text.split(",")
    if not all(x.isascii() and x.isdigit() and 1 <= int(x) <= 64 for x in words):
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of numbers from 1 to 64")
    return tuple(dict.fromkeys(int(x) for x in words))


def _machine(text: str) -> str:
    kind, _, name = text.partition(":")
    if kind != "machine" or name not in PROTOCOLS:
        raise argparse.ArgumentTypeError(f"'{text}' is not machine: and {', '.join(PROTOCOLS)}")
    return name


def _complete(asked: argparse.Namespace) -> argparse.Namespace:
    """Gives what was not said its usual value, which depends on where the suite runs."""
    usual: dict[str, object] = {"threads": (1, 2), "size": "small", "reps": 5, "warm_ups": 1}
    if asked.on:
        usual = {"threads": (1, 2, 4, 8, 16), "size": "test", "reps": 1, "warm_ups": 0}
    for name, value in usual.items():
        if getattr(asked, name) is None:
            setattr(asked, name, value)
    return asked


def _parser() -> _Parser:
    variants = "\n".join(f"  {x.name:<20}{x.summary}" for x in VARIANTS.values())
    parser = _Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} [APPLICATION…] [OPTIONS]",
        description=f"{SUMMARY}.\n\nApplications: {', '.join(ROWS)}; kmeans and vacation stand for "
        f"both, micro for all eight.\nWithout any: all of the suite but bayes.\n\n"
        f"Variants:\n{variants}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("applications", nargs="*", metavar="APPLICATION", help=argparse.SUPPRESS)
    add("--variants", metavar="LIST", help=f"separated by commas [{','.join(DEFAULT_VARIANTS)}]")
    add(
        "--on",
        type=_machine,
        metavar="machine:NAME",
        help="run on the simulated machine, with this protocol and as many harts as threads; then "
        f"[{','.join(MACHINE_VARIANTS)}], threads [1,2,4,8,16], size [test], one round",
    )
    add("--threads", type=_threads, metavar="LIST", help="1 to 64 each [1,2]")
    add("--size", choices=SIZES, help="[small]")
    add("--seed", type=_number(0, 2**63 - 1), default=1, metavar="N", help="of the inputs [1]")
    add(
        "--baseline",
        metavar="VARIANT",
        help="what ratios are relative to, with as many threads where it has several [sequential]",
    )
    add("--reps", type=_number(1, 1000), metavar="N", help="measured rounds [5]")
    add("--warm-ups", type=_number(0, 100), metavar="N", help="rounds before [1]")
    add("--aborts", action="store_true", help="also count aborts, by other builds, untimed")
    add("--sections", action="store_true", help="instead: lengths and sets of the sections")
    add("--list", action="store_true", help="instead: the variants, and what is not available")
    add("--json", metavar="FILE", help="the result; - is standard output")
    add("--plots", type=Path, metavar="DIR", help="where charts go [build/bench]")
    add("--no-plots", action="store_true", help="draw none")
    add("--build-dir", type=Path, metavar="DIR", help="of the programs [build/workloads/stamp]")
    add("--resume", action="store_true", help="continue an interrupted run")
    add("--fresh", action="store_true", help="start anew where one was interrupted")
    add("--progress", action=argparse.BooleanOptionalAction, help="a bar [on a terminal]")
    add("--quiet", action="store_false", dest="progress", help="no progress", default=None)
    add("--version", action=PrintVersion, nargs=0, help="print the version")
    return parser


def _result_file(asked: argparse.Namespace) -> Path:
    if asked.json in (None, "-"):
        name = f"stamp-{asked.on}.json" if asked.on else "stamp.json"
        return work_folder() / "bench" / name
    return Path(asked.json)


def _console(asked: argparse.Namespace) -> Console:
    """Tables go beside the result where that is standard output; wide where it is no terminal."""
    stream = sys.stderr if asked.json == "-" else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else 200, highlight=False)


def _comparison(asked: argparse.Namespace, build: Path) -> Comparison:
    usual = MACHINE_VARIANTS if asked.on else DEFAULT_VARIANTS
    names = asked.variants.split(",") if asked.variants else list(usual)
    base = asked.baseline or "sequential"
    chosen = choose_variants([base, *names], build, TARGET if asked.on else "")
    return Comparison(
        rows=tuple(choose_rows(asked.applications)),
        variants=tuple(chosen),
        threads=asked.threads,
        size=asked.size,
        seed=asked.seed,
        baseline=chosen[0],
        machine=asked.on or "",
    )


def _show_list(asked: argparse.Namespace, build: Path) -> int:
    console = _console(asked)
    for variant in VARIANTS.values():
        reason = why_unavailable(variant, build, TARGET if asked.on else "")
        note = f"; not available: {reason}" if reason else ""
        console.print(f"{variant.name:<20}{variant.summary}{note}", markup=False)
    return 0


def _measure(asked: argparse.Namespace, build: Path, work: Path, progress: Progress) -> int:
    rows = choose_rows(asked.applications or list(STAMP_ROWS))
    places = {"source": str(ROOT), "work": str(work), "build": str(build)}
    command = [expand(x, places) for x in build_command(PROGRAMS, rows)]
    progress.note("build: what is missing of " + ", ".join(PROGRAMS))
    run_command(command, {}, 3600, place="build")
    with progress.bar("sections", len(rows) * len(PROGRAMS)) as bar:
        run = ROOT / "workloads" / "stamp" / "run.sh"
        measures = measure_sections(rows, asked.size, asked.seed, run, work, build, bar)
    text = sections_to_json(rows, measures, asked.size)
    if asked.json == "-":
        sys.stdout.write(text)
    else:
        _console(asked).print(sections_table(rows, measures))
        if asked.json is not None:
            write_text(Path(asked.json), text)
    return 0


def _compare(asked: argparse.Namespace, build: Path, work: Path, progress: Progress) -> int:
    comparison = _comparison(asked, build)
    target = _result_file(asked)
    settings = Settings(
        source=ROOT,
        build=build,
        result=target,
        work=work,
        repetitions=asked.reps,
        warm_ups=asked.warm_ups,
        resume=asked.resume,
        fresh=asked.fresh or asked.json in (None, "-"),
    )
    nothing = Published(papers={}, tables={}, statements={})
    result = run_experiment(make_experiment(comparison), nothing, settings, progress)
    console = _console(asked)
    print_comparison(result, comparison, console)
    if asked.json == "-":
        sys.stdout.write(result_to_json(result))
    written = [target]
    if asked.aborts and any(x.counts for x in comparison.variants):
        counts = target.with_name(f"{target.stem}-aborts.json")
        once = Settings(
            source=ROOT,
            build=build,
            result=counts,
            work=work,
            repetitions=1,
            warm_ups=0,
            fresh=True,
        )
        counted = run_experiment(
            make_experiment(comparison, counting=True), nothing, once, progress
        )
        console.print(aborts_table(counted, comparison))
        written.append(counts)
    if not asked.no_plots:
        from tandem.bench.chart import draw_comparison  # matplotlib takes a second to load

        chart = (asked.plots or target.parent) / target.stem
        check_target(chart, "--plots")
        written += draw_comparison(result, comparison, chart)
    for path in written:
        progress.note(f"wrote {path}")
    return 0


def _act(asked: argparse.Namespace) -> int:
    build = prefix()
    if asked.list:
        return _show_list(asked, build)
    if asked.resume and asked.fresh:
        raise UserError("--resume and --fresh exclude each other; give one")
    rows = choose_rows(asked.applications)
    if (asked.sections or asked.aborts) and any(x.application == "micro" for x in rows):
        raise UserError("micro-benchmarks have neither --sections nor --aborts; leave them out")
    if asked.on and (asked.sections or asked.aborts):
        raise UserError("--on machine:… has neither --sections nor --aborts; leave them out")
    if asked.json not in (None, "-"):
        check_target(Path(asked.json), "--json")
    work = (asked.build_dir or work_folder() / "workloads" / "stamp").resolve()
    if asked.on:
        work /= TARGET
    progress = Progress.automatic(asked.progress)
    with one_at_a_time(work):
        if asked.sections:
            return _measure(asked, build, work, progress)
        return _compare(asked, build, work, progress)


def main(arguments: Sequence[str]) -> int:
    """Runs the command line; the exit status. Every error is one line on standard error."""
    return guarded(PROGRAM, lambda: _run(arguments))


def _run(arguments: Sequence[str]) -> int:
    try:
        if list(arguments) == ["--summary"]:
            print(SUMMARY)
            return 0
        return _act(_complete(_parser().parse_args(arguments)))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt as error:
        raise InterruptedRun("interrupted; continue with --resume") from error

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line: `tandem workload memcached fetch | build | analyse | suite | replay | clean`.

Exit status: 0; 1 where a build, a check or a test failed; 2 for the user's mistake; 130 after
Ctrl-C.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from tandem import __version__
from tandem.errors import TandemError, UserError
from tandem.paths import ROOT
from tandem.workload.memcached import VARIANTS, Memcached
from tandem.workload.replay import (
    LOADS,
    build_clients,
    count_locks,
    print_locks,
    print_replay,
    replay,
    replay_json,
)
from tandem.workload.steps import one_at_a_time, say
from tandem.workload.suite import EXPECTED_SKIPS, SuiteResult

__all__ = ["SUMMARY", "main"]

PROGRAM = "tandem workload"
SUMMARY = "Fetch, build, analyse and test real programs, unmodified (memcached)"
ACTIONS = {
    "fetch": "fetch the source package; print its version and checksums",
    "build": "build a pristine copy of it; nothing is done where nothing has changed",
    "analyse": "build it, show its lock regions, and check their number against the sources",
    "suite": "build it, and run memcached's own test suite",
    "replay": "build them, and put a load on each in turn, inside the process and checked",
    "clean": "remove what was built (of one variant, or all)",
}
# With 6, test files of a build that checks itself were too late for their own sleeps.
CHECKED_JOBS = 2
SUITE_JOBS = 6  # test files mostly sleep: 430 s serially, 138 s with 6, on 2 processors


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message}; see {PROGRAM} --help")


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 1024:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1 to 1024")
    return int(text)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(_positive(x) for x in text.split(","))


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) < 2**32:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1 to {2**32 - 1}")
    return int(text)


def _parser() -> _Parser:
    variants = "\n".join(f"  {x.name:<12}{x.summary}" for x in VARIANTS.values())
    loads = "\n".join(f"  {name:<10}{x.summary}" for name, x in LOADS.items())
    actions = "\n".join(f"  {name:<10}{text}" for name, text in ACTIONS.items())
    parser = _Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} memcached ACTION [OPTIONS]",
        description=f"{SUMMARY}.\n\nActions:\n{actions}\n\nVariants:\n{variants}\n\n"
        f"Loads:\n{loads}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "workload", choices=["memcached"], metavar="memcached", help=argparse.SUPPRESS
    )
    parser.add_argument("action", choices=list(ACTIONS), metavar="ACTION", help=argparse.SUPPRESS)
    parser.add_argument(
        "--variant",
        action="append",
        choices=list(VARIANTS),
        metavar="NAME",
        help="which build [none; replay: gcc]; replay takes several, and compares with the first",
    )
    parser.add_argument(
        "--report", type=Path, metavar="FILE", help="copy the report there (build, analyse)"
    )
    parser.add_argument(
        "-j",
        "--jobs",
        type=_positive,
        metavar="N",
        help=f"compilers at once [processors], or test files at once [{SUITE_JOBS}]",
    )
    parser.add_argument(
        "--test",
        action="append",
        default=[],
        metavar="FILE",
        help="only this file of memcached's (suite), as t/basic.t; may be given again",
    )
    parser.add_argument(
        "--load", choices=list(LOADS), metavar="NAME", help="what is asked (replay) [cache]"
    )
    parser.add_argument(
        "--threads",
        type=_numbers,
        metavar="N,...",
        help="of memcached (replay) [2]",
    )
    parser.add_argument("--rounds", type=_positive, metavar="N", help="of each (replay) [1]")
    parser.add_argument(
        "--operations",
        type=_count,
        metavar="N",
        help="of each of eight clients, in a round (replay) [200000]",
    )
    parser.add_argument("--seed", type=_count, metavar="N", help="of the first round (replay) [1]")
    parser.add_argument(
        "--locks",
        action="store_true",
        default=None,
        help="count the locks that are acquired, too, in runs of their own (replay)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rounds there (replay)")
    parser.add_argument(
        "--folder",
        type=Path,
        default=ROOT / "build" / "workloads" / "memcached",
        metavar="DIR",
        help="where it is built [build/workloads/memcached]",
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    return parser


def _prefix() -> Path:
    """Tandem's build tree, as the launcher tells."""
    told = os.environ.get("TANDEM_BUILD")
    return Path(told).resolve() if told else ROOT / "build" / "release"


def _only(asked: argparse.Namespace) -> str:
    """The variant of an action that takes one."""
    return str(asked.variant[0]) if asked.variant else "none"


def _check_options(asked: argparse.Namespace) -> None:
    if asked.test and asked.action != "suite":
        raise UserError(f"--test: {asked.action} runs no tests; use suite")
    for name in ("load", "threads", "rounds", "operations", "seed", "locks", "json"):
        if getattr(asked, name) is not None and asked.action != "replay":
            raise UserError(f"--{name}: {asked.action} puts no load on anything; use replay")
    if asked.variant and len(asked.variant) > 1 and asked.action != "replay":
        raise UserError(f"--variant: {asked.action} takes one; give one, or use replay")
    if asked.report is None:
        return
    if asked.action not in ("build", "analyse"):
        raise UserError(f"--report: {asked.action} makes no report; use build or analyse")
    if not VARIANTS[_only(asked)].analysed:
        raise UserError(f"--report: variant {_only(asked)} has no report; use none")
    folder = asked.report.parent
    if asked.report.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise UserError(
            f"--report {asked.report}: cannot be written; name a file in a folder of yours"
        )


def _copy_report(source: Path, target: Path | None) -> None:
    if target is None:
        return
    partial = target.with_name(f".{target.name}.partial")
    shutil.copyfile(source, partial)
    partial.replace(target)
    say(f"wrote {target}")


def _clean(folder: Path, variant: str | None) -> None:
    """Removes one variant's build, or all; nothing else, whatever else `folder` holds."""
    for name in [variant] if variant else [*VARIANTS, "source"]:
        target = folder / name
        if (target / "tree").is_dir() or (target / ".debian-source").is_file():
            shutil.rmtree(target)
            say(f"removed {target}")


def print_suite(result: SuiteResult, variant: str) -> bool:
    """The summary table; whether the suite passed."""
    problems = list(result.problems())
    differences = list(result.differences())
    print(f"\nmemcached ({variant}): its own test suite, {result.seconds:.0f} s")
    print(f"  files passed   {len(result.passed):>7}")
    print(f"  files skipped  {len(result.skipped):>7}   expected: {len(EXPECTED_SKIPS)}")
    print(f"  files failed   {len(result.failed):>7}")
    print(f"  tests          {result.tests:>7}")
    total = result.testapp_ok + result.testapp_not_ok
    if not result.partial:
        print(f"  testapp        {result.testapp_ok:>7}   of {total}")
    if result.checked:
        print(f"  sections ran   {len(result.sections_ran):>7}")
        print(f"  accesses       {result.accesses:>7}   in sections")
        print(f"  misses         {len(result.misses):>7}")
    print("skipped:")
    for file, reason in sorted(result.skipped.items()):
        print(f"  {file:<28}{EXPECTED_SKIPS.get(file, f'NOT EXPECTED: {reason}')}")
    for text in differences:
        print(f"differs: {text}")
    for text in problems:
        print(f"FAILED: {text}")
    print("passed" if not problems else "failed")
    return not problems


def _replay(asked: argparse.Namespace, folder: Path, make_jobs: int) -> None:
    programs = {}
    for name in asked.variant or ["gcc"]:
        memcached = Memcached(folder, _prefix(), VARIANTS[name], make_jobs)
        memcached.build()
        programs[name] = memcached.tree / "memcached"
    load = LOADS[asked.load or "cache"]
    clients = build_clients(folder)
    results = replay(
        programs,
        clients,
        load,
        threads=asked.threads or (2,),
        rounds=asked.rounds or 1,
        operations=asked.operations or 200_000,
        seed=asked.seed or 1,
        environment=os.environ,
    )
    print_replay(results, load)
    if asked.locks:
        counts = count_locks(
            programs,
            clients,
            _prefix() / "lib" / "libtandem_locks.so",
            load,
            threads=asked.threads or (2,),
            operations=asked.operations or 200_000,
            seed=asked.seed or 1,
            environment=os.environ,
        )
        print_locks(counts)
    if asked.json:
        asked.json.write_text(replay_json(results), encoding="utf-8")


def _act(asked: argparse.Namespace) -> int:
    folder: Path = asked.folder.resolve()
    variant = VARIANTS[_only(asked)]
    _check_options(asked)
    if asked.action == "clean":
        if folder.is_dir():
            with one_at_a_time(folder):
                _clean(folder, _only(asked) if asked.variant else None)
        return 0
    suite_jobs = asked.jobs or (CHECKED_JOBS if variant.checked else SUITE_JOBS)
    make_jobs = os.cpu_count() or 1
    if asked.jobs and asked.action != "suite":
        make_jobs = asked.jobs
    memcached = Memcached(folder, _prefix(), variant, make_jobs)
    with one_at_a_time(folder):
        if asked.action == "fetch":
            memcached.fetch()
        elif asked.action == "build":
            memcached.build()
            _copy_report(memcached.report, asked.report)
        elif asked.action == "analyse":
            comparison = memcached.analyse()
            print("\n".join(comparison.lines()))
            _copy_report(memcached.report, asked.report)
            return 0 if comparison.equal else 1
        elif asked.action == "replay":
            _replay(asked, folder, make_jobs)
        else:
            return 0 if print_suite(memcached.suite(suite_jobs, asked.test), variant.name) else 1
    return 0


def _terminate(*_: object) -> None:
    raise KeyboardInterrupt


def main(arguments: Sequence[str]) -> int:
    """Runs the command line; the exit status. Every error is one line on standard error."""
    signal.signal(signal.SIGTERM, _terminate)
    try:
        if list(arguments) == ["--summary"]:
            print(SUMMARY)
            return 0
        return _act(_parser().parse_args(arguments))
    except TandemError as error:
        print(f"{PROGRAM}: {' '.join(str(error).split())}", file=sys.stderr)
        return error.exit_status
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print(f"{PROGRAM}: interrupted", file=sys.stderr)
        return 130

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line: `tandem workload NAME ...`, which is apache/cli.py's, txlinux/cli.py's or
programs/cli.py's, or `tandem workload memcached ACTION`, for the actions of options.py.

Exit status: 0; 1 where a build, a check or a test failed; 2 for the user's mistake; 130 after
Ctrl-C.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import dataclasses
import json
import os
import select
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tandem.errors import UserError
from tandem.files import write_bytes, write_text
from tandem.paths import prefix
from tandem.program import answer, guarded
from tandem.version import PrintVersion
from tandem.workload import options
from tandem.workload.apache import cli as apache
from tandem.workload.arguments import Parser
from tandem.workload.load import load, load_json, print_load
from tandem.workload.memcached import Memcached
from tandem.workload.options import (
    SUITE_JOBS,
    check_options,
    only_variant,
    parser,
)
from tandem.workload.programs import cli as programs
from tandem.workload.replay import (
    LOADS,
    build_clients,
    build_sockets,
    count_locks,
    print_locks,
    print_replay,
    replay,
    replay_json,
    run_once,
)
from tandem.workload.serial import abort_rate_variance, count_serial, print_serial, read_serial
from tandem.workload.soak import print_soak, soak
from tandem.workload.steps import one_at_a_time, say, side_by_side
from tandem.workload.suite import EXPECTED_SKIPS, SuiteResult, print_observed
from tandem.workload.txlinux import cli as txlinux
from tandem.workload.variants import SANITIZED, VARIANTS, Variant, sanitized
from tandem.workload.versions import Given, given

__all__ = ["SUMMARY", "main"]

# With 6, test files of a build that checks itself were too late for their own sleeps.
CHECKED_JOBS = 2


def _copy_report(source: Path, target: Path | None) -> None:
    if target is None:
        return
    write_bytes(target, source.read_bytes())
    say(f"wrote {target}")


def _clean(folder: Path, variant: str | None) -> None:
    """Removes one variant's build, or all; nothing else, whatever else `folder` holds."""
    every = [*VARIANTS, *(name + SANITIZED for name in VARIANTS), "source"]
    names = [variant, variant + SANITIZED] if variant else every
    given_sources = sorted(folder.glob("[0-9]*.[0-9]*"))  # of the user's versions
    for target in [base / name for base in (folder, *given_sources) for name in names]:
        if (target / "tree").is_dir() or (target / ".debian-source").is_file():
            shutil.rmtree(target)
            say(f"removed {target}")
    for base in given_sources:
        with contextlib.suppress(OSError):  # something else is in it
            base.rmdir()


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


def _given(asked: argparse.Namespace) -> Given | None:
    """The user's source; the empty name is Debian's, so that experiments may have either."""
    return given(Path(asked.source).resolve()) if asked.source else None


def _build(asked: argparse.Namespace, folder: Path, memcached: Memcached, make_jobs: int) -> None:
    """One variant, or several side by side: a link is one thread."""
    refusals = bool(asked.refusals)
    if not asked.variant or len(asked.variant) == 1:
        if not memcached.build(refusals=refusals):
            _copy_report(memcached.report, asked.report)
        return
    memcached.fetch()
    builds = [
        Memcached(
            folder,
            prefix(),
            sanitized(VARIANTS[x]) if asked.sanitize else VARIANTS[x],
            1,
            memcached.given,
        )
        for x in asked.variant
    ]
    for needed in {x.shared_parts: x for x in builds}.values():
        needed.build_shared()
    with side_by_side(make_jobs) as pool:
        futures = [pool.submit(x.build, refusals=refusals, shared=False) for x in builds]
        for future in concurrent.futures.as_completed(futures):
            future.result()


def _programs(
    asked: argparse.Namespace, folder: Path, make_jobs: int
) -> tuple[dict[str, Path], list[Variant]]:
    """Builds the variants that are to be compared; each one's memcached."""
    variants = [VARIANTS[name] for name in asked.variant or ["gcc"]]
    programs = {}
    for variant in variants:
        memcached = Memcached(folder, prefix(), variant, make_jobs, _given(asked))
        memcached.build()
        programs[variant.name] = memcached.tree / "memcached"
    return programs, variants


def _replay(asked: argparse.Namespace, folder: Path, make_jobs: int) -> bool:
    programs, variants = _programs(asked, folder, make_jobs)
    environment = dict(os.environ)
    record = folder / "replay" / "observed"
    record.unlink(missing_ok=True)
    if any(x.checked for x in variants):
        environment["TANDEM_OBSERVE"] = str(record)
    described = LOADS[asked.load or "cache"]
    clients = build_clients(folder)
    threads = asked.threads or (2,)
    rounds = asked.rounds or 1
    operations = asked.operations or 200_000
    seed = asked.seed or 1
    results = replay(
        programs,
        clients,
        described,
        threads=threads,
        rounds=rounds,
        operations=operations,
        seed=seed,
        environment=environment,
    )
    print_replay(results, described)
    if asked.locks:
        counts = count_locks(
            programs,
            clients,
            prefix() / "lib" / "libtandem_locks.so",
            described,
            threads=threads,
            operations=operations,
            seed=seed,
            environment=environment,
        )
        print_locks(counts)
    if asked.json:
        write_text(asked.json, replay_json(results))
    passed = True
    if any(x.checked for x in variants):
        passed = print_observed(record)
    if not asked.check_serial:
        return passed
    serial = count_serial(
        {x.name: programs[x.name] for x in variants if x.transactional},
        clients,
        described,
        threads=threads,
        rounds=rounds,
        operations=operations,
        seed=seed,
        environment=environment,
    )
    return print_serial(serial) and passed


def _sample(asked: argparse.Namespace, folder: Path, memcached: Memcached) -> None:
    """One run as JSON: of each of eight clients so many operations, or of the tool's in all."""
    with contextlib.redirect_stdout(sys.stderr):  # what was fetched
        refused = memcached.build(refusals=bool(asked.refusals))
    if refused:
        print(json.dumps({"outcome": f"refused: {refused}"}))
        return
    program = memcached.tree / "memcached"
    threads = (asked.threads or (2,))[0]
    if asked.tool:
        print(json.dumps(_sample_of_sockets(asked, program, threads)))
        return
    clients, described = build_clients(folder), LOADS[asked.load or "cache"]
    with tempfile.TemporaryDirectory(prefix="tandem-sample-") as name:
        profile = Path(name) / "profile.json"
        # Every execution: causes that are rare count as well.
        counting = {"TANDEM_PROFILE": str(profile), "TANDEM_PROFILE_PERIOD": "1"}
        told = counting if asked.count else {}
        settings = {
            "operations": asked.operations or 200_000,
            "seed": asked.seed or 1,
            **described.settings,
        }
        run = run_once(program, clients, described, settings, threads, {**os.environ, **told})
        figures: dict[str, Any] = {
            "seconds": run["seconds"],
            "rate": run["operations"] / run["seconds"],
            "user_ns": 1e9 * run["user_seconds"] / run["operations"],
            "operations": run["operations"],
        }
        if asked.count:
            serial = read_serial(memcached.variant.name, threads, [profile])
            percent = 100 / max(1, serial.commits)
            figures["sections"] = dataclasses.asdict(serial) | {
                "in_flight_percent": percent * serial.in_flight,
                "at_start_percent": percent * serial.at_start,
                "after_aborts_percent": percent * serial.after_aborts,
                "abort_rate_variance": abort_rate_variance(profile, threads),
            }
            figures["source"] = memcached.kinds()
    if asked.locks:
        figures["locks"] = count_locks(
            {memcached.variant.name: program},
            clients,
            prefix() / "lib" / "libtandem_locks.so",
            described,
            threads=(threads,),
            operations=asked.operations or 200_000,
            seed=asked.seed or 1,
            environment=os.environ,
        )[0].per_operation
    print(json.dumps(figures))


def _sample_of_sockets(
    asked: argparse.Namespace, program: Path, threads: int
) -> Mapping[str, float]:
    name, count = asked.variant[0] if asked.variant else "gcc", asked.operations or 100_000
    one = load(
        {name: program},
        asked.tool,
        asked.over or "tcp",
        threads=threads,
        rounds=1,
        operations=count,
        environment=os.environ,
    )[0].rounds[0]
    return {
        "seconds": one.seconds,
        "rate": one.operations / one.seconds,
        "cpu_ns": 1e9 * one.cpu_seconds / one.all_operations,
        "operations": one.operations,
    }


def _load(asked: argparse.Namespace, folder: Path, make_jobs: int) -> None:
    programs, _ = _programs(asked, folder, make_jobs)
    tool, over = asked.tool or "memaslap", asked.over or "tcp"
    results = load(
        programs,
        tool,
        over,
        threads=(asked.threads or (2,))[0],
        rounds=asked.rounds or 1,
        operations=asked.operations or 100_000,
        environment=os.environ,
    )
    print_load(results, tool, over)
    if asked.json:
        write_text(asked.json, load_json(results, tool, over))


def _soak(asked: argparse.Namespace, folder: Path, memcached: Memcached) -> bool:
    memcached.build()
    result = soak(
        memcached.tree / "memcached",
        build_clients(folder),
        build_sockets(folder),
        minutes=asked.minutes or 1,
        threads=(asked.threads or (8,))[0],
        operations=asked.operations or 20_000,
        seed=asked.seed or 1,
        environment=os.environ,
    )
    return print_soak(result, memcached.variant.name)


def _act(asked: argparse.Namespace) -> int:
    folder: Path = asked.folder.resolve()
    variant = VARIANTS[only_variant(asked)]
    if asked.sanitize:
        variant = sanitized(variant)
    check_options(asked)
    if asked.action == "clean":
        if folder.is_dir():
            with one_at_a_time(folder):
                _clean(folder, only_variant(asked) if asked.variant else None)
        return 0
    suite_jobs = asked.jobs or (CHECKED_JOBS if variant.checked else SUITE_JOBS)
    make_jobs = os.cpu_count() or 1
    if asked.jobs and asked.action != "suite":
        make_jobs = asked.jobs
    memcached = Memcached(folder, prefix(), variant, make_jobs, _given(asked))
    passed = True
    with one_at_a_time(folder):
        if asked.action == "fetch":
            memcached.fetch()
        elif asked.action == "build":
            _build(asked, folder, memcached, make_jobs)
        elif asked.action == "analyse":
            comparison = memcached.analyse()
            print("\n".join(comparison.lines()))
            _copy_report(memcached.report, asked.report)
            passed = comparison.equal
        elif asked.action == "replay":
            passed = _replay(asked, folder, make_jobs)
        elif asked.action == "classes":
            with contextlib.redirect_stdout(sys.stderr):  # what was fetched
                classes = memcached.classes()
            print(json.dumps(classes))
        elif asked.action == "sample":
            _sample(asked, folder, memcached)
        elif asked.action == "load":
            _load(asked, folder, make_jobs)
        elif asked.action == "soak":
            passed = _soak(asked, folder, memcached)
        else:
            passed = print_suite(memcached.suite(suite_jobs, asked.test), variant.name)
    return 0 if passed else 1


def _nobody_reads() -> bool:
    """Whether standard output is a pipe whose reader has gone."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return bool(poll.poll(0))


PROGRAM = "tandem workload"
SUMMARY = "Fetch, build, analyse and test programs: memcached, httpd's cache, Linux, others"
# What each is, and what runs its command line.
WORKLOADS: dict[str, tuple[str, Callable[[Sequence[str]], int]]] = {
    "memcached": (options.SUMMARY, lambda arguments: _act(parser().parse_args(arguments))),
    "apache": (apache.SUMMARY, apache.run_apache),
    "txlinux": (txlinux.SUMMARY, txlinux.run_txlinux),
    "programs": (programs.SUMMARY, programs.run_programs),
}


def _dispatch(arguments: Sequence[str]) -> int:
    if arguments and arguments[0] in WORKLOADS:
        return WORKLOADS[arguments[0]][1](arguments[1:])
    names = ", ".join(WORKLOADS)
    if arguments and not arguments[0].startswith("-"):
        raise UserError(f"there is no workload '{arguments[0]}'; there are {names}")
    words = "\n".join(f"  {name:<12}{summary}" for name, (summary, _) in WORKLOADS.items())
    shown = Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} WORKLOAD [OPTIONS]",
        description=f"{SUMMARY}.\n\nWords:\n{words}\n\nEach has its own --help.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    shown.add_argument("--version", action=PrintVersion, nargs=0, help="print the version")
    shown.parse_args(arguments)
    raise UserError(f"name a workload: {names}")


def main(arguments: Sequence[str]) -> int:
    """Runs the command line; the exit status. Every error is one line on standard error."""
    return guarded(PROGRAM, lambda: _run(arguments))


def _run(arguments: Sequence[str]) -> int:
    status: int | None = None
    try:
        if list(arguments) == ["--summary"]:
            print(SUMMARY)
            return 0
        status = _dispatch(arguments)
        sys.stdout.flush()
        return status
    except BrokenPipeError as error:
        if not _nobody_reads():
            return answer(PROGRAM, f"a connection was lost: {error}", 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if status is not None:
            return status
        return answer(PROGRAM, "standard output was closed before the end", 1)

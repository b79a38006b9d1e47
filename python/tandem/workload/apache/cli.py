# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tandem workload apache ACTION`: its options, and what each action does.

Exit status: 0; 1 where a build, a check or a test failed; 2 for the user's mistake.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from tandem.errors import UserError
from tandem.files import check_outputs, check_target, write_text
from tandem.paths import prefix, work_folder
from tandem.workload.apache.build import (
    OF_MACHINE,
    SHIPPED,
    VARIANTS,
    build,
    report_of,
    server_environment,
)
from tandem.workload.apache.httpd import find_httpd
from tandem.workload.apache.load import load, load_json, print_load
from tandem.workload.apache.replay import Machine, print_replay, replay, replay_json, run_once
from tandem.workload.apache.soak import print_soak, soak
from tandem.workload.apache.steps import classes, measure_steps, print_steps
from tandem.workload.apache.suite import Subject, print_suite, run_suite
from tandem.workload.arguments import action_parser, add_common, check_actions, number, numbers
from tandem.workload.steps import one_at_a_time, say

__all__ = ["SUMMARY", "run_apache"]

PROGRAM = "tandem workload apache"
SUMMARY = "httpd's cache in memory under every enforcement, tested and put under load"
ACTIONS = {
    "build": "build the module of each variant, and print where it is",
    "suite": "http-cache-tests and checks of our own, beside mod_cache_disk and mod_cache_socache",
    "load": "manual pages over HTTP by Zipf's law, caches in turn, by siege",
    "replay": "a stream of the cache's operations in process, variants in turn",
    "steps": "the published ways to register a reference: what is said of each, and its speed",
    "point": "one measurement as JSON, for experiments",
    "soak": "minutes of load, restarts and kills, every answer compared",
    "clean": "remove what was built",
}
# Which actions take an option, and which variants they run where none is named.
_ACTIONS_OF = {
    "part": ("suite",),
    "check": ("suite",),
    "threads": ("replay", "steps", "point"),
    "s": ("replay", "load", "point"),
    "measure": ("point",),
    "rounds": ("replay", "load", "steps"),
    "operations": ("replay", "steps", "point"),
    "requests": ("load", "point"),
    "warm": ("load", "point"),
    "warm_up": ("replay", "point"),
    "protocol": ("replay", "point"),
    "objects": ("replay",),
    "bytes": ("replay",),
    "policy": ("replay",),
    "stream": ("replay",),
    "compare": ("replay",),
    "algorithm": ("replay",),
    "seed": ("replay", "load", "soak", "point"),
    "json": ("replay", "load"),
    "minutes": ("soak",),
}
ALGORITHMS = {
    "store": "this module's [default]",
    "legacy": "httpd 2.2's, its lock converted, not a line changed",
    "revocable": "the same with revocable.patch, which lets all of it be undone",
}
_TRANSACTIONAL = ("stm", "hybrid", "htm")
_DEFAULT_VARIANTS = {
    "build": ["hybrid"],
    "suite": ["disk", "socache", "hybrid"],
    "load": ["none", "disk", "socache", "hybrid"],
    "replay": ["mutex", "hybrid"],
    "replay on harts": ["mutex", "stm", "hybrid", "htm"],
    "soak": ["hybrid"],
    "steps": ["stm", "hybrid"],
    "point": ["hybrid"],
}
_count = number(1, 2**32 - 1)


def _laws(text: str) -> tuple[float, ...]:
    try:
        values = tuple(float(x) for x in text.split(","))
    except ValueError:
        values = (math.nan,)
    if not all(0 <= x <= 10 for x in values):
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of numbers from 0 to 10")
    return values


def _parser() -> argparse.ArgumentParser:
    lists = {"Actions": ACTIONS, "Variants": VARIANTS, "Beside them in suite and load": SHIPPED}
    made = action_parser(PROGRAM, SUMMARY, lists)
    _add_options(made)
    add_common(made)
    return made


def _add_options(to: argparse.ArgumentParser) -> None:
    add = to.add_argument
    add(
        "--variant",
        action="append",
        choices=[*VARIANTS, *SHIPPED],
        metavar="NAME",
        help="which; may be given again. Replay and load compare with the first",
    )
    add("--part", choices=["conformance", "checks"], metavar="PART", help="of the suite [both]")
    add("--check", action="append", metavar="NAME", help="only this check (suite)")
    add("--threads", type=numbers(1, 2**32 - 1), metavar="N[,...]", help="(replay, steps) [1,2]")
    add("--s", type=_laws, metavar="X[,...]", help="Zipf's law (replay, load) [0.1,1,2]")
    add("--rounds", type=_count, metavar="N", help="(replay, load, steps) [3]")
    add("--operations", type=_count, metavar="N", help="of each thread (replay, steps) [300000]")
    add("--requests", type=_count, metavar="N", help="of each run (load) [10000]")
    add(
        "--measure", choices=["http", "replay"], metavar="M", help="http or replay (point) [replay]"
    )
    add(
        "--warm",
        action="store_true",
        default=None,
        help="every page was asked for before, and the caches can hold all (load, point)",
    )
    add("--warm-up", type=_count, metavar="N", help="operations of each thread before (replay) [0]")
    add(
        "--protocol",
        metavar="NAME",
        help="on the simulated machine, a hart for each thread, with this coherence protocol; "
        "none: a cycle an instruction. There `stm` keeps to software, `hybrid` and `htm` have the "
        "machine's transactions (replay)",
    )
    add("--objects", type=_count, metavar="N", help="cap on objects (replay) [1009]")
    add("--bytes", type=_count, metavar="N", help="cap on bytes (replay) [67108864]")
    add("--policy", choices=["gdsf", "lru"], metavar="P", help="gdsf or lru (replay) [gdsf]")
    add("--stream", type=Path, metavar="FILE", help="keys in the order of a file (replay)")
    add("--compare", action="store_true", default=None, help="every object is compared (replay)")
    add(
        "--algorithm",
        choices=list(ALGORITHMS),
        metavar="NAME",
        help="; ".join(f"{name}: {text}" for name, text in ALGORITHMS.items()) + " (replay)",
    )
    add("--seed", type=_count, metavar="N", help="(replay, load, soak) [1]")
    add("--minutes", type=_count, metavar="N", help="(soak) [1]")
    add("--json", type=Path, metavar="FILE", help="every round (replay, load)")
    add("-j", "--jobs", type=_count, metavar="N", help="compilers at once [processors]")
    add(
        "--folder",
        type=Path,
        default=work_folder() / "workloads" / "apache",
        metavar="DIR",
        help="where it is built [build/workloads/apache]",
    )


def _check_options(asked: argparse.Namespace) -> None:
    check_actions(asked, _ACTIONS_OF)
    shipped = [x for x in asked.variant or () if x in SHIPPED]
    if shipped and asked.action not in ("suite", "load", "point"):
        raise UserError(f"--variant {shipped[0]} is none of {asked.action}'s; see {PROGRAM} --help")
    if asked.stream is not None and asked.s is not None:
        raise UserError("--stream and --s exclude each other")
    if asked.json is not None:
        check_target(asked.json, "--json", make=False)
        check_outputs([asked.json], [asked.stream] if asked.stream is not None else [])


def _environment() -> dict[str, str]:
    """Where programs of tandem-cc find its libraries."""
    before = os.environ.get("LD_LIBRARY_PATH")
    own = str(prefix() / "lib")
    return {"LD_LIBRARY_PATH": f"{own}:{before}" if before else own}


def _variants(asked: argparse.Namespace) -> list[str]:
    # Each once, in order.
    on_harts = asked.action == "replay" and asked.protocol is not None
    default = _DEFAULT_VARIANTS["replay on harts" if on_harts else asked.action]
    return list(dict.fromkeys(asked.variant or default))


def _subjects(asked: argparse.Namespace, folder: Path, jobs: int) -> list[Subject]:
    find_httpd()
    names = _variants(asked)
    built = build(folder, prefix(), "module", names, jobs)
    return [
        Subject(x, built.get(x), _environment() | server_environment(x) if x in built else {})
        for x in names
    ]


def _machine(asked: argparse.Namespace) -> Machine | None:
    """What the replay runs on; null where that is this machine."""
    if asked.protocol is None:
        return None
    if other := [x for x in _variants(asked) if x not in OF_MACHINE]:
        raise UserError(
            f"--variant {other[0]} is not made for the simulated machine; --protocol takes "
            f"{', '.join(OF_MACHINE)}"
        )
    return Machine(prefix(), None if asked.protocol == "none" else asked.protocol)


def _operations(asked: argparse.Namespace) -> int:
    """Of each thread, where nothing is said."""
    return 300_000 if asked.protocol is None else 3000


def _replay(asked: argparse.Namespace, folder: Path, jobs: int) -> None:
    algorithm = asked.algorithm or "store"
    if asked.protocol is not None and algorithm != "store":
        raise UserError("--algorithm is not for the simulated machine; leave --protocol out")
    target = "replay" if algorithm == "store" else algorithm
    machine = _machine(asked)
    if machine is not None:
        target = "machine"
    programs = build(folder, prefix(), target, _variants(asked), jobs)
    options = [f"--operations={asked.operations or _operations(asked)}"]
    for name in ("objects", "bytes", "policy", "stream", "warm_up"):
        if getattr(asked, name) is not None:
            options.append(f"--{name.replace('_', '-')}={getattr(asked, name)}")
    if asked.compare:
        options.append("--check")
    results = replay(
        programs,
        options,
        threads=asked.threads or (1, 2),
        laws=(1.0,) if asked.stream else asked.s or (0.1, 1.0, 2.0),
        rounds=asked.rounds or (3 if machine is None else 1),
        seed=asked.seed or 1,
        environment=os.environ | _environment(),
        machine=machine,
    )
    print_replay(results, machine is not None)
    if asked.json:
        write_text(asked.json, replay_json(results))


def _load(asked: argparse.Namespace, folder: Path, jobs: int) -> None:
    results = load(
        _subjects(asked, folder, jobs),
        asked.s or (0.1, 1.0, 2.0),
        asked.rounds or 3,
        asked.requests or 10_000,
        asked.seed or 1,
        bool(asked.warm),
    )
    print_load(results)
    if asked.json:
        write_text(asked.json, load_json(results))


def _soak(asked: argparse.Namespace, folder: Path, jobs: int) -> bool:
    names = _variants(asked)
    if len(names) != 1:
        raise UserError("soak takes one --variant")
    find_httpd()
    module = build(folder, prefix(), "module", names, jobs)[names[0]]
    program = build(folder, prefix(), "replay", names, jobs)[names[0]]
    environment = _environment()
    result = soak(
        module,
        program,
        environment | server_environment(names[0]),
        environment,
        asked.minutes or 1,
        asked.seed or 1,
    )
    return print_soak(result, names[0])


def _steps(asked: argparse.Namespace, folder: Path, jobs: int) -> None:
    names = _variants(asked)
    if other := [x for x in names if x not in _TRANSACTIONAL]:
        raise UserError(
            f"--variant {other[0]} has no commit handlers; steps takes {', '.join(_TRANSACTIONAL)}"
        )
    programs = build(folder, prefix(), "steps", names, jobs)
    sections = classes(report_of(programs[names[0]]))
    results = measure_steps(
        programs,
        asked.threads or (1, 2),
        asked.rounds or 3,
        asked.operations or 300_000,
        os.environ | _environment(),
    )
    print_steps(results, sections)


def _point(asked: argparse.Namespace, folder: Path, jobs: int) -> None:
    """One variant with one number of threads and one exponent."""
    names, laws, threads = _variants(asked), asked.s or (1.0,), asked.threads or (1,)
    if len(names) != 1 or len(laws) != 1 or len(threads) != 1:
        raise UserError("point takes one --variant, one --s and one number of --threads")
    if asked.measure == "http":
        requests = asked.requests or 2000
        subjects = _subjects(asked, folder, jobs)
        one = load(subjects, laws, 1, requests, asked.seed or 1, bool(asked.warm), threads[0])[0]
        figures = {
            "rate": one.rates[0],
            "cpu_us": one.cpu_us[0],
            "hit_rate": one.hits[0] if one.hits else 0.0,
        }
    elif asked.warm:
        raise UserError("--warm is of --measure http")
    elif names[0] in SHIPPED:
        raise UserError(f"--variant {names[0]} has no replay; see {PROGRAM} --help")
    else:
        machine = _machine(asked)
        target = "replay" if machine is None else "machine"
        program = build(folder, prefix(), target, names, jobs)[names[0]]
        told = [f"--threads={threads[0]}", f"--s={laws[0]}", f"--seed={asked.seed or 1}"]
        told.append(f"--operations={asked.operations or _operations(asked)}")
        told.append(f"--warm-up={asked.warm_up or 0}")
        under = machine.command(names[0], threads[0]) if machine is not None else ()
        run = run_once(program, told, os.environ | _environment(), under=under)
        figures = {
            "rate": run["operations"] / run["seconds"],
            "cpu_us": 1e6 * run["user_seconds"] / run["operations"],
            "hit_rate": run["hit_rate"],
        }
    print(json.dumps(figures))


def _clean(folder: Path) -> None:
    for name in VARIANTS:
        if (folder / name).is_dir():
            shutil.rmtree(folder / name)
            say(f"removed {folder / name}")


def run_apache(arguments: Sequence[str]) -> int:
    """The exit status; errors are TandemErrors."""
    asked = _parser().parse_args(arguments)
    _check_options(asked)
    folder: Path = asked.folder.resolve()
    jobs = asked.jobs or os.cpu_count() or 1
    passed = True
    if asked.action == "clean" and not folder.is_dir():
        return 0
    with one_at_a_time(folder):
        if asked.action == "build":
            for path in build(folder, prefix(), "module", _variants(asked), jobs).values():
                print(path)
        elif asked.action == "suite":
            parts = [asked.part] if asked.part else ["conformance", "checks"]
            subjects = _subjects(asked, folder, jobs)
            passed = print_suite(run_suite(folder, subjects, parts, asked.check or ()))
        elif asked.action == "load":
            _load(asked, folder, jobs)
        elif asked.action == "replay":
            _replay(asked, folder, jobs)
        elif asked.action == "point":
            _point(asked, folder, jobs)
        elif asked.action == "steps":
            _steps(asked, folder, jobs)
        elif asked.action == "soak":
            passed = _soak(asked, folder, jobs)
        else:
            _clean(folder)
    return 0 if passed else 1

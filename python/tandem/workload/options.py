# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The options of `tandem workload memcached`, and which action takes which."""

from __future__ import annotations

import argparse
from pathlib import Path

from tandem.errors import UserError
from tandem.files import check_target
from tandem.paths import work_folder
from tandem.workload.arguments import action_parser, add_common, check_actions, number, numbers
from tandem.workload.load import TOOLS, find_tool
from tandem.workload.replay import LOADS
from tandem.workload.server import OVER, check_socket
from tandem.workload.variants import VARIANTS

__all__ = ["PROGRAM", "SUITE_JOBS", "SUMMARY", "check_options", "only_variant", "parser"]

PROGRAM = "tandem workload memcached"
SUMMARY = "memcached under every enforcement: built, analysed, tested and put under load"
ACTIONS = {
    "fetch": "fetch the source package; print its version and checksums",
    "build": "build a pristine copy of it; nothing is done where nothing has changed",
    "analyse": "build it, show its lock regions, and check their number against the sources",
    "classes": "build it, and print its sections by class, and their colours, as JSON",
    "suite": "build it, and run memcached's own test suite",
    "replay": "build them, and put a load on each in turn, inside the process and checked",
    "sample": "build it, put a load on it once, inside the process or by a --tool; figures as JSON",
    "load": "build them, and put a load on each in turn, over sockets, by libmemcached's tools",
    "soak": "build it, and put all commands on it for minutes, checked; kill and restart it",
    "clean": "remove what was built (of one variant, or all)",
}
SUITE_JOBS = 6  # test files mostly sleep: 430 s serially, 138 s with 6, on 2 processors
# Options that only some actions take.
_ACTIONS_OF = {
    "load": ("replay", "sample"),
    "threads": ("replay", "sample", "load", "soak"),
    "rounds": ("replay", "load"),
    "operations": ("replay", "sample", "load", "soak"),
    "seed": ("replay", "sample", "soak"),
    "count": ("sample",),
    "locks": ("replay", "sample"),
    "check_serial": ("replay",),
    "json": ("replay", "load"),
    "tool": ("load", "sample"),
    "over": ("load", "sample"),
    "minutes": ("soak",),
    "sanitize": ("soak", "build"),
    "refusals": ("build", "sample"),
}
_OF_SOURCE = ("build", "analyse", "classes", "replay", "sample", "load")
_COMPARE = ("replay", "load", "build")  # take several variants
_positive = number(1, 1024)
_count = number(1, 2**32 - 1)


def parser() -> argparse.ArgumentParser:
    """Its errors are UserErrors."""
    lists = {
        "Actions": dict(ACTIONS),
        "Variants": {x.name: x.summary for x in VARIANTS.values()},
        "Loads": {name: x.summary for name, x in LOADS.items()},
        "Tools": {name: x.summary for name, x in TOOLS.items()},
    }
    made = action_parser(PROGRAM, SUMMARY, lists)
    _add_building(made)
    _add_loading(made)
    add_common(made)
    return made


def _add_building(to: argparse.ArgumentParser) -> None:
    to.add_argument(
        "--variant",
        action="append",
        choices=list(VARIANTS),
        metavar="NAME",
        help="which build [none; replay, load: gcc; soak: hybrid]; replay and load take several, "
        "and compare with the first; build makes several side by side",
    )
    to.add_argument(
        "--sanitize",
        choices=["address"],
        metavar="address",
        help="build it with AddressSanitizer (soak, build)",
    )
    to.add_argument(
        "--source",
        metavar="DIR",
        help="memcached's source of your own, of any version 1.6, 1.4 or 1.2; it is copied and not"
        " changed [Debian's package]",
    )
    to.add_argument(
        "--refusals",
        action="store_true",
        default=None,
        help="a conversion that the compiler refuses is no failure (build), but the outcome that is"
        " printed (sample)",
    )
    to.add_argument(
        "--report", type=Path, metavar="FILE", help="copy the report there (build, analyse)"
    )
    to.add_argument(
        "-j",
        "--jobs",
        type=_positive,
        metavar="N",
        help=f"compilers at once [processors], or test files at once [{SUITE_JOBS}]",
    )
    to.add_argument(
        "--test",
        action="append",
        default=[],
        metavar="FILE",
        help="only this file of memcached's (suite), as t/basic.t; may be given again",
    )
    to.add_argument(
        "--folder",
        type=Path,
        default=work_folder() / "workloads" / "memcached",
        metavar="DIR",
        help="where it is built [build/workloads/memcached]",
    )


def _add_loading(to: argparse.ArgumentParser) -> None:
    to.add_argument(
        "--load", choices=list(LOADS), metavar="NAME", help="what is asked (replay) [cache]"
    )
    to.add_argument(
        "--tool", choices=list(TOOLS), metavar="NAME", help="who asks (load, sample) [memaslap]"
    )
    to.add_argument("--over", choices=list(OVER), metavar="tcp|unix", help="(load, sample) [tcp]")
    to.add_argument(
        "--threads",
        type=numbers(1, 1024),
        metavar="N[,...]",
        help="of memcached (replay, load: 2; soak: 8); replay takes several numbers",
    )
    to.add_argument("--rounds", type=_positive, metavar="N", help="of each (replay, load) [1]")
    to.add_argument(
        "--operations",
        type=_count,
        metavar="N",
        help="in a round: of each of eight clients (replay) [200000], of each of sixteen (soak) "
        "[20000], of all (load) [100000]",
    )
    to.add_argument("--minutes", type=_positive, metavar="N", help="at least (soak) [1]")
    to.add_argument(
        "--seed", type=_count, metavar="N", help="of the first round (replay, soak) [1]"
    )
    to.add_argument(
        "--locks",
        action="store_true",
        default=None,
        help="count the locks that are acquired, too, in runs of their own (replay, sample)",
    )
    to.add_argument(
        "--check-serial",
        action="store_true",
        default=None,
        help="count what of the sections runs serially, too, in runs of their own, and fail where "
        "it is anything that has not to do with aborts (replay)",
    )
    to.add_argument(
        "--count",
        action="store_true",
        default=None,
        help="of its sections, too: commits, aborts, and what ran serially (sample)",
    )
    to.add_argument(
        "--json", type=Path, metavar="FILE", help="write the rounds there (replay, load)"
    )


def only_variant(asked: argparse.Namespace) -> str:
    """The variant of an action that takes one."""
    default = {"soak": "hybrid", "classes": "hybrid", "sample": "gcc"}.get(asked.action, "none")
    return str(asked.variant[0]) if asked.variant else default


def check_options(asked: argparse.Namespace) -> None:
    """UserError where the action does not take one of the options, or cannot run with it: all that
    can be told before anything is built, or waited for.
    """
    if asked.test and asked.action != "suite":
        raise UserError(f"--test: {asked.action} runs no tests; use suite")
    check_actions(asked, _ACTIONS_OF)
    if asked.source and asked.action not in _OF_SOURCE:
        raise UserError(f"--source: {asked.action} does not take it; use {', '.join(_OF_SOURCE)}")
    if asked.source and asked.sanitize:
        raise UserError("--sanitize: only Debian's memcached is built so; leave out --source")
    if asked.variant and len(asked.variant) > 1 and asked.action not in _COMPARE:
        raise UserError(f"--variant: {asked.action} takes one; give one, or use replay")
    if asked.variant and len(set(asked.variant)) < len(asked.variant):
        raise UserError("--variant: one is given twice; give each once")
    if asked.check_serial and not any(VARIANTS[x].transactional for x in asked.variant or ()):
        able = ", ".join(x.name for x in VARIANTS.values() if x.transactional)
        raise UserError(f"--check-serial: no variant has transactions; use one of {able}")
    if asked.threads and len(asked.threads) > 1 and asked.action != "replay":
        raise UserError(f"--threads: {asked.action} takes one number; give one, or use replay")
    tool = TOOLS[asked.tool or "memaslap"]
    if asked.over and asked.over not in tool.over:
        able = ", ".join(name for name, x in TOOLS.items() if asked.over in x.over)
        raise UserError(f"--over {asked.over}: the tool cannot connect so; use --tool {able}")
    if asked.count and not VARIANTS[only_variant(asked)].transactional:
        able = ", ".join(x.name for x in VARIANTS.values() if x.transactional)
        raise UserError(f"--count: the variant has no transactions; use one of {able}")
    if asked.action == "classes" and not VARIANTS[only_variant(asked)].converted:
        able = ", ".join(x.name for x in VARIANTS.values() if x.converted)
        raise UserError(f"variant {only_variant(asked)} has no sections; use one of {able}")
    if asked.action == "sample" and asked.tool:
        inside = ("load", "seed", "count", "locks")
        if given := [x for x in inside if getattr(asked, x) is not None]:
            raise UserError(f"--{given[0]}: is of loads inside the process; leave out --tool")
    elif asked.action == "sample" and asked.over:
        raise UserError("--over: say which --tool connects")
    if asked.action == "load" or asked.tool:
        find_tool(asked.tool or "memaslap")
    if asked.action == "soak" or asked.over == "unix":
        check_socket()
    if asked.json is not None:
        check_target(asked.json, "--json", make=False)
    if asked.report is None:
        return
    if asked.variant and len(asked.variant) > 1:
        raise UserError("--report: is of one variant; give one")
    if asked.action not in ("build", "analyse"):
        raise UserError(f"--report: {asked.action} makes no report; use build or analyse")
    if not VARIANTS[only_variant(asked)].analysed:
        raise UserError(f"--report: variant {only_variant(asked)} has no report; use none")
    check_target(asked.report, "--report", make=False)

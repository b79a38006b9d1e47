# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tandem workload txlinux ACTION`: its options, and what each action does.

Exit status: 0; 1 where a build or a workload failed; 2 for the user's mistake.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tandem.errors import UserError
from tandem.files import check_outputs, check_target, write_text
from tandem.paths import work_folder
from tandem.workload.arguments import action_parser, add_common, check_actions, number
from tandem.workload.txlinux.compare import compare, print_comparison
from tandem.workload.txlinux.counters import group_profile, print_run
from tandem.workload.txlinux.guest import (
    ELIDING,
    PAPER_WORKLOADS,
    VARIANTS,
    WORKLOADS,
    Image,
    Run,
    build_image,
    check_settings,
    machine,
    measure,
    of_machine,
)
from tandem.workload.txlinux.tables import tables_of

__all__ = ["SUMMARY", "run_txlinux"]

PROGRAM = "tandem workload txlinux"
SUMMARY = "Linux whose lock sections are hardware transactions, on the simulated machine"
ACTIONS = {
    "image": "build the kernel of a variant, once; print where it is",
    "boot": "boot it to a shell in the terminal, without time",
    "run": "run a workload on it with time; print its sections",
    "compare": "run workloads on several kernels with several seeds; print a table",
}
_ACTIONS_OF = {
    "copies": ("run",),
    "size": ("run",),
    "length": ("run", "compare"),
    "seed": ("boot", "run"),
    "seeds": ("compare",),
    "jobs": ("compare",),
    "json": ("run", "compare"),
    "profile": ("run",),
    "policy": ("boot", "run", "compare"),
    "backoff": ("boot", "run", "compare"),
    "set": ("boot", "run", "compare"),
    "protocol": ("run", "compare"),
    "harts": ("boot", "run", "compare"),
    "limit": ("boot", "run", "compare"),
    "early_release": ("boot", "run", "compare"),
}
POLICIES = (
    "polite",
    "karma",
    "eruption",
    "kindergarten",
    "timestamp",
    "polka",
    "size-matters",
)
BACKOFFS = ("none", "linear", "exponential", "random", "square")
_count = number(1, 2**31 - 1)
_seed = number(0, 2**31 - 1)


def _parser() -> argparse.ArgumentParser:
    lists = {
        "Actions": ACTIONS,
        "Variants": VARIANTS,
        "Workloads": {name: x.summary for name, x in WORKLOADS.items()},
    }
    summary = f"{SUMMARY} (docs/txlinux.md)"
    made = action_parser(PROGRAM, summary, lists, operands="[WORKLOAD...] ")
    made.add_argument("workload", nargs="*", metavar="WORKLOAD", help=argparse.SUPPRESS)
    _add_options(made)
    add_common(made)
    return made


def _add_options(to: argparse.ArgumentParser) -> None:
    add = to.add_argument
    add(
        "--variant",
        action="append",
        choices=list(VARIANTS),
        metavar="NAME",
        help="which kernel [txlinux]; again for each that compare is to run [linux, txlinux]",
    )
    add("--harts", type=number(1, 64), metavar="N", help="1 to 64 [8]")
    add("--copies", type=_count, metavar="N", help="that run at once (run); see docs/txlinux.md")
    add("--size", type=_count, metavar="N", help="of each copy (run); see docs/txlinux.md")
    add(
        "--length", choices=("usual", "short"), metavar="NAME", help="usual or short (run, compare)"
    )
    add("--policy", choices=POLICIES, metavar="NAME", help="who wins a conflict [size-matters]")
    add("--backoff", choices=BACKOFFS, metavar="NAME", help="waits before restarts [linear]")
    add(
        "--limit",
        type=_count,
        metavar="N",
        help="restarts after which a section takes its lock [8]",
    )
    add(
        "--early-release",
        choices=("on", "off"),
        metavar="NAME",
        help="a rising stack pointer releases what its section has marked [off]",
    )
    add(
        "--protocol",
        metavar="NAME",
        help="of coherence; none: without time (run, compare) [mesi-snoop]",
    )
    add(
        "--set",
        action="append",
        metavar="FIELD=VALUE",
        help="a field of the machine, as htm.stall=true; may be given again",
    )
    add("--seed", type=_seed, metavar="N", help="of all that is random (boot, run) [1]")
    add("--seeds", type=_count, metavar="N", help="how many runs of each (compare) [5]")
    add("--jobs", type=_count, metavar="N", help="runs at once (compare) [processors]")
    add("--json", type=Path, metavar="FILE", help="what was counted (run, compare)")
    add("--profile", type=Path, metavar="FILE", help="for tandem report (run)")
    add(
        "--folder",
        type=Path,
        default=work_folder() / "workloads" / "txlinux",
        metavar="DIR",
        help="where saved machines are [build/workloads/txlinux]",
    )


def _check_options(asked: argparse.Namespace) -> None:
    check_actions(asked, _ACTIONS_OF)
    for name in asked.workload:
        if name not in WORKLOADS:
            raise UserError(f"there is no workload '{name}'; there are {', '.join(WORKLOADS)}")
    if asked.action == "run" and len(asked.workload) != 1:
        raise UserError(f"run takes one workload of {', '.join(WORKLOADS)}")
    if asked.action in ("image", "boot") and asked.workload:
        raise UserError(f"{asked.action} takes no workload; use run")
    variants = asked.variant or []
    if asked.action != "compare" and len(variants) > 1:
        raise UserError(f"--variant is given {len(variants)} times; {asked.action} takes one")
    if asked.early_release == "on" and variants and not set(variants) & set(ELIDING):
        raise UserError(f"--early-release on is of kernels with transactions: {', '.join(ELIDING)}")
    if asked.action == "compare" and variants and len(set(variants)) < 2:
        raise UserError("--variant: compare takes two kernels or more; give it again")
    outputs = {"--json": asked.json, "--profile": asked.profile}
    for option, target in outputs.items():
        if target is not None:
            check_target(target, option, make=False)
    check_outputs([x for x in outputs.values() if x is not None], [])
    if settings := settings_of(asked):
        check_settings(settings)


def settings_of(asked: argparse.Namespace) -> list[str]:
    """Fields of the machine that the options mean."""
    settings = []
    if asked.policy is not None:
        settings.append(f'htm.policy="{asked.policy}"')
    if asked.backoff is not None:
        settings.append(f'htm.backoff="{asked.backoff}"')
    return settings + (asked.set or [])


def _image(asked: argparse.Namespace) -> Image:
    return build_image(asked.variant[0] if asked.variant else "txlinux")


def _boot(asked: argparse.Namespace) -> int:
    """Becomes `tandem machine boot`."""
    image = _image(asked)
    command = [str(machine()), "machine", "boot"]
    command += of_machine(image, asked.harts or 8, 1 if asked.seed is None else asked.seed)
    if image.variant in ELIDING:
        command += ["--tx-limit", str(asked.limit or 8)]
    if asked.early_release == "on":
        command.append("--tx-release")
    for each in settings_of(asked):
        command += ["--set", each]
    os.execv(command[0], command)


def _run(asked: argparse.Namespace) -> int:
    image = _image(asked)
    result = measure(
        image,
        asked.workload[0],
        harts=asked.harts or 8,
        copies=asked.copies,
        size=asked.size,
        seed=1 if asked.seed is None else asked.seed,
        limit=asked.limit or 8,
        protocol=asked.protocol or "mesi-snoop",
        settings=settings_of(asked),
        folder=asked.folder.resolve(),
        short=asked.length == "short",
        early_release=asked.early_release == "on",
        profile=asked.profile,
    )
    if asked.profile is not None:
        profile = json.loads(asked.profile.read_text())
        group_profile(profile)
        _write(asked.profile, profile)
    print_run(result)
    _write(asked.json, _described(result))
    return 0


def _described(run: Run) -> dict[str, Any]:
    """A run as JSON, with what the paper's tables have of it."""
    return {**dataclasses.asdict(run), "tables": tables_of(run)}


def _write(target: Path | None, data: object) -> None:
    if target is not None:
        write_text(target, json.dumps(data, indent=2) + "\n")


def _compare(asked: argparse.Namespace) -> int:
    images = [build_image(x) for x in dict.fromkeys(asked.variant or ("linux", "txlinux"))]
    comparison = compare(
        images,
        asked.workload or PAPER_WORKLOADS,
        harts=asked.harts or 8,
        seeds=asked.seeds or 5,
        limit=asked.limit or 8,
        protocol=asked.protocol or "mesi-snoop",
        settings=settings_of(asked),
        folder=asked.folder.resolve(),
        short=asked.length == "short",
        early_release=asked.early_release == "on",
        jobs=asked.jobs or os.cpu_count() or 1,
    )
    print_comparison(comparison)
    _write(asked.json, [_described(x) for x in comparison])
    return 0


def run_txlinux(arguments: Sequence[str]) -> int:
    """Runs the command line; the exit status."""
    asked = _parser().parse_intermixed_args(arguments)
    _check_options(asked)
    if asked.action == "boot":
        return _boot(asked)
    if asked.action == "run":
        return _run(asked)
    if asked.action == "compare":
        return _compare(asked)
    print(_image(asked).kernel)
    return 0

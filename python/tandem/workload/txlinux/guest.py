# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of each variant, and one measured run of a workload on one of them.

A run has two parts. The kernel boots without time and makes the workload's files; at a line of the
console the machine is saved, once for a kernel, its harts, the workload and a seed, in
FOLDER/checkpoints. Every run goes on from there, with time, to the line at which the workload has
ended. Several processes and threads may run in one FOLDER.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tandem.errors import CommandError, RunError, UserError
from tandem.paths import ROOT, prefix
from tandem.workload.steps import one_at_a_time, say

__all__ = [
    "ELIDING",
    "PAPER_WORKLOADS",
    "VARIANTS",
    "WORKLOADS",
    "Image",
    "Run",
    "Workload",
    "build_image",
    "check_settings",
    "machine",
    "measure",
    "of_machine",
]

VARIANTS = {
    "linux": "the same sources, without transactions",
    "txlinux": "lock sections of the converted subsystems are transactions",
    "linux-coarse": "linux with few locks for dentries, page tables and slab lists",
    "txlinux-coarse": "txlinux with these few locks",
    "txlinux-stub": "converted, but every section takes its lock",
    "txlinux-debug": "txlinux with the kernel's own checks: slabs, lists, pages, sleeping",
}
# Those whose sections are transactions.
ELIDING = ("txlinux", "txlinux-coarse", "txlinux-debug")
READY = 5  # lines at which txstage lets the machine be saved
BOOT_LIMIT = "20G"  # instructions; a boot takes 0.1 G
RUN_LIMIT = "100G"  # instructions of a run; what has not ended by then makes no progress
# Cycles, at most, by which a message on the bus is late, by the seed: runs of different seeds are
# then different interleavings. The paper's machine has none; a fetch from memory takes 200.
JITTER = "network.jitter=3"


@dataclass(frozen=True)
class Workload:
    """What a guest runs. Copies and size of a usual and of a short run; copies 0: one a hart."""

    summary: str
    usual: tuple[int, int]
    short: tuple[int, int]


# A run of 8 harts is to take a minute or so of a processor, a short one some seconds;
# docs/txlinux.md says how they differ from the paper's.
WORKLOADS = {
    "counter": Workload(
        "a thread a hart increments one word under one lock", (1, 20000), (1, 1000)
    ),
    "pmake": Workload("make compiles and links files of libFLAC with tcc", (0, 8), (0, 3)),
    "netcat": Workload("TCP over the loopback, in kilobytes", (0, 1024), (0, 16)),
    "mab": Workload(
        "the Andrew benchmark's folders, copies, listings and searches", (16, 40), (0, 4)
    ),
    "configure": Workload("copies of a script of autoconf's, with tcc", (8, 4), (2, 1)),
    "find": Workload("copies of find and grep over one tree", (0, 968), (0, 200)),
    "fork": Workload("shells that start processes", (0, 20), (0, 4)),
    "pipes": Workload("sort and seq through pipes", (0, 1), (0, 1)),
    "faults": Workload("threads of one process touch fresh pages", (0, 256), (0, 32)),
    "stress": Workload("the default image's check of all of the machine", (1, 1), (1, 1)),
    "selftest": Workload("the kernel's tests of its lock functions", (1, 1), (1, 1)),
}
# Of the paper's Table 3.
PAPER_WORKLOADS = ("counter", "pmake", "netcat", "mab", "configure", "find")


@dataclass(frozen=True)
class Image:
    """A kernel and what it boots into."""

    variant: str
    kernel: Path  # folder with Image, vmlinux
    guest: Path  # folder with initrd.cpio


@dataclass(frozen=True)
class Run:
    """One measured run. Cycles are of all harts together, but for `elapsed_cycles`."""

    variant: str
    workload: str
    harts: int
    seed: int
    elapsed_cycles: int  # from the first mark to the second; 0 without time
    system_cycles: int  # outside of U, waits included; 0 without time
    said: str
    transactions: Mapping[str, Any]  # as in machine-run.md; empty where there were none
    counts: Mapping[str, int] = field(default_factory=dict)  # between the marks; empty without time
    instructions: int = 0  # of all harts, from the boot on


def machine() -> Path:
    return prefix() / "bin" / "tandem"


def check_settings(settings: Sequence[str]) -> None:
    """UserError where one is no field of the machine's configuration, or no value of it."""
    command = [str(machine()), "machine", "list", "--config", "metatm"]
    for each in settings:
        command += ["--set", each]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode == 2:
        raise UserError(done.stderr.strip().removeprefix("tandem machine list: "))
    if done.returncode != 0:
        raise CommandError(f"tandem machine list: status {done.returncode}")


def _cache() -> Path:
    told = os.environ.get("XDG_CACHE_HOME", "")
    home = Path(told) if told.startswith("/") else Path.home() / ".cache"
    return home / "tandem" / "images"


def build_image(variant: str) -> Image:
    """Builds what is missing; the script says what it does on standard error."""
    script = ROOT / "workloads" / "txlinux" / "build"
    cache = _cache()
    if not (cache / "linux" / "initrd.cpio").is_file():
        base = [str(machine()), "machine", "image", "linux"]
        if subprocess.run(base, stdout=sys.stderr, check=False).returncode != 0:
            raise CommandError("the default image could not be built; its messages are above")
    command = [str(script), str(cache), variant, str(prefix() / "include")]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode == 2:
        raise UserError(f"the kernel of {variant} cannot be built; the line above says why")
    if done.returncode != 0:
        raise CommandError(f"the kernel of {variant} could not be built: status {done.returncode}")
    kernel, guest = done.stdout.splitlines()[-2:]
    return Image(variant, Path(kernel), Path(guest))


def of_machine(image: Image, harts: int, seed: int) -> list[str]:
    """The options with which `tandem machine boot` makes the machine."""
    return [
        "--harts",
        str(harts),
        "--kernel",
        str(image.kernel / "Image"),
        "--initrd",
        str(image.guest / "initrd.cpio"),
        "--symbols",
        str(image.kernel / "vmlinux"),
        "--seed",
        str(seed),
    ]


def _boot(arguments: Sequence[str], what: str) -> str:
    """Runs `tandem machine boot`; what the console showed. RunError where it does not end well."""
    command = [str(machine()), "machine", "boot", *arguments]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace"
    )
    if done.returncode != 0:
        last = [x for x in (done.stdout + done.stderr).splitlines() if x.strip()][-12:]
        print("\n".join(last), file=sys.stderr)
        raise RunError(f"{what}: status {done.returncode}; the last lines are above")
    return done.stdout


def _stage(
    image: Image, words: str, arguments: str, harts: int, seed: int, limit: int, folder: Path
) -> Path:
    """The checkpoint at which the workload is about to run."""
    key = "\n".join(
        [
            str(image.kernel.resolve()),
            str(image.guest.resolve()),
            words + arguments,
            f"{harts} {seed} {limit}",
            str((prefix() / "libexec" / "tandem-machine").stat().st_mtime_ns),
        ]
    )
    name = hashlib.sha256(key.encode()).hexdigest()[:16]
    own = folder / "checkpoints" / f"{image.variant}-{words.split()[0]}-{harts}-{name}"
    target = own / "machine"
    with one_at_a_time(own):
        if not target.is_file():
            _save(target, image, words, arguments, harts, seed, limit)
    return target


def _save(
    target: Path, image: Image, words: str, arguments: str, harts: int, seed: int, limit: int
) -> None:
    """Boots to the workload and saves the machine; at the first line without a transaction."""
    partial = target.with_suffix(".partial")
    for line in range(1, READY + 1):
        more = ["--tx-limit", str(limit)] if image.variant in ELIDING else []
        try:
            _boot(
                [
                    *of_machine(image, harts, seed),
                    *more,
                    "--append",
                    f'quiet {arguments} run="txstage {words}"',
                    "--until",
                    f"txstage: ready {line}",
                    "--save",
                    str(partial),
                    "--limit",
                    BOOT_LIMIT,
                ],
                f"{image.variant}: it did not come to the workload {words}",
            )
        except RunError:
            if line == READY:
                raise
            continue
        break
    partial.rename(target)


def measure(
    image: Image,
    workload: str,
    *,
    harts: int,
    copies: int | None,
    size: int | None,
    seed: int,
    limit: int,
    protocol: str,
    settings: Sequence[str],
    folder: Path,
    short: bool = False,
    early_release: bool = False,
    profile: Path | None = None,
    arguments: str = "",
) -> Run:
    """`protocol`: of coherence, or none: without time. `short`: the short run. `limit`: restarts
    before a section takes its lock. `settings`: fields of the machine's configuration.
    `early_release`: by every hart's stack pointer. `arguments`: of the kernel. RunError
    where the guest finds a wrong result.
    """
    defaults = WORKLOADS[workload].short if short else WORKLOADS[workload].usual
    words = f"{workload} {copies or defaults[0] or harts} {size or defaults[1]}"
    saved = _stage(image, words, arguments, harts, seed, limit, folder)
    result = folder / f"run-{os.getpid()}-{threading.get_ident()}.json"
    options = ["--restore", str(saved), "--symbols", str(image.kernel / "vmlinux")]
    options += ["--seed", str(seed), "--json", str(result), "--limit", RUN_LIMIT]
    options += ["--until", "txstage: end"]
    if protocol != "none":
        options += ["--protocol", protocol, "--set", JITTER]
    for each in settings:
        options += ["--set", each]
    if early_release:
        options.append("--tx-release")
    if profile is not None:
        options += ["--profile", str(profile)]
    say(f"{image.variant}: {words}, {harts} harts, seed {seed}")
    try:
        console = _boot(options, f"{image.variant}: {words}")
        counted = json.loads(result.read_text())
    finally:
        result.unlink(missing_ok=True)
    verdict = re.search(rf"^txrun: {workload}: ok(.*)$", console.replace("\r", ""), re.MULTILINE)
    if verdict is None:
        raise RunError(f"{image.variant}: {words}: the guest did not say that it is right")
    regions = counted.get("timing", {}).get("regions", [])
    counts = regions[0]["counts"] if regions else {}
    return Run(
        variant=image.variant,
        workload=workload,
        harts=harts,
        seed=seed,
        elapsed_cycles=counts.get("timed_cycles", 0),
        system_cycles=counts.get("system_cycles", 0),
        said=verdict.group(1).strip(),
        transactions=counted.get("transactions", {}),
        counts=counts,
        instructions=counted["instructions"],
    )

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of each variant, and one measured run of a workload on one of them.

A run has two parts. The kernel boots without time and makes the workload's files; at a line of the
console the machine is saved, once for a kernel, its harts, the workload and a seed, in
FOLDER/checkpoints. Every run goes on from there, with time.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tandem.errors import CommandError, RunError, UserError
from tandem.paths import ROOT, prefix
from tandem.workload.steps import say

__all__ = ["VARIANTS", "WORKLOADS", "Image", "Run", "Workload", "build_image", "machine", "measure"]

VARIANTS = {
    "linux": "the same sources, without transactions",
    "txlinux": "lock sections of the converted subsystems are transactions",
    "txlinux-stub": "converted, but every section takes its lock",
}
READY = 5  # lines at which txstage lets the machine be saved
BOOT_LIMIT = "20G"  # instructions; a boot takes 0.1 G


@dataclass(frozen=True)
class Workload:
    """What a guest runs. `copies` and `size` are of a usual run; `copies` 0: one a hart."""

    summary: str
    copies: int
    size: int


# Sizes: a run of 8 harts is to take a minute or so; docs/txlinux.md says how they differ from the
# paper's.
WORKLOADS = {
    "counter": Workload("a thread a hart increments one word under one lock", 1, 5000),
    "find": Workload("copies of find and grep over one tree", 0, 290),
    "mab": Workload("the Andrew benchmark's folders, copies, listings and searches", 0, 20),
    "netcat": Workload("TCP over the loopback, in kilobytes", 0, 64),
    "fork": Workload("shells that start processes", 0, 20),
    "pipes": Workload("sort and seq through pipes", 0, 1),
    "stress": Workload("the default image's check of all of the machine", 1, 1),
}


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


def machine() -> Path:
    return prefix() / "bin" / "tandem"


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
    target = folder / "checkpoints" / f"{image.variant}-{words.split()[0]}-{harts}-{name}"
    if target.is_file():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_suffix(".partial")
    for line in range(1, READY + 1):
        more = [] if image.variant == "linux" else ["--tx-limit", str(limit)]
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
    return target


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
    profile: Path | None = None,
    arguments: str = "",
) -> Run:
    """`protocol`: of coherence, or none: without time. `limit`: restarts before a section takes its
    lock. `settings`: fields of the machine's configuration. `arguments`: of the kernel. RunError
    where the guest finds a wrong result.
    """
    usual = WORKLOADS[workload]
    words = f"{workload} {copies or usual.copies or harts} {size or usual.size}"
    saved = _stage(image, words, arguments, harts, seed, limit, folder)
    result = folder / f"run-{os.getpid()}.json"
    options = ["--restore", str(saved), "--symbols", str(image.kernel / "vmlinux")]
    options += ["--seed", str(seed), "--json", str(result)]
    if protocol != "none":
        options += ["--protocol", protocol]
    for each in settings:
        options += ["--set", each]
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
    elapsed, system = 0, 0
    for region in counted.get("timing", {}).get("regions", []):
        elapsed = region["counts"]["timed_cycles"]
        system = region["counts"]["system_cycles"]
    return Run(
        variant=image.variant,
        workload=workload,
        harts=harts,
        seed=seed,
        elapsed_cycles=elapsed,
        system_cycles=system,
        said=verdict.group(1).strip(),
        transactions=counted.get("transactions", {}),
    )

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The long form: kernels of every variant boot with 1, 4 and 8 harts and pass their own tests;
every workload with its checks, with small and large limits of restarts, without time and with it;
the kernel without the instructions also on QEMU. A part of `scripts/verify txlinux`.

    kernels.py [PATTERN] [FOLDER]

PATTERN: only cases whose line matches this regular expression, and the kernels that they need.
FOLDER: where saved machines are (a new one, which is removed again). Status 1 where any failed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tandem.errors import TandemError
from tandem.workload.steps import side_by_side
from tandem.workload.txlinux.guest import (
    ELIDING,
    PAPER_WORKLOADS,
    VARIANTS,
    WORKLOADS,
    Image,
    build_image,
    measure,
)

QEMU_TIMEOUT_S = 3600
STRESS = 13  # the scale at which a run takes more than LONG instructions
LONG = 10**10


@dataclass(frozen=True)
class Case:
    variant: str
    workload: str
    harts: int
    limit: int = 8
    protocol: str = "none"
    arguments: str = ""  # of the kernel
    size: int | None = None
    seed: int = 1
    instructions: int = 0  # at least

    def __str__(self) -> str:
        size = "" if self.size is None else f", size {self.size}"
        arguments = self.arguments and f", {self.arguments}"
        return (
            f"{self.variant} {self.workload}, {self.harts} harts, limit {self.limit}, "
            f"protocol {self.protocol}, seed {self.seed}{size}{arguments}"
        )


def cases() -> Iterator[Case]:
    for variant in VARIANTS:
        for harts in (1, 4, 8):
            yield Case(variant, "selftest", harts)
            yield Case(variant, "counter", harts)
            yield Case(variant, "stress", harts)
    for variant in ("txlinux", "txlinux-coarse"):
        for limit in (1, 2):
            yield Case(variant, "selftest", 8, limit)
    for workload in PAPER_WORKLOADS:
        for variant in ("txlinux-debug", "linux-coarse", "txlinux-coarse"):
            yield Case(variant, workload, 8)
    for seed in (1, 2, 3):
        for limit in (1, 2, 8):
            yield Case("txlinux", "stress", 8, limit, size=STRESS, seed=seed, instructions=LONG)
    for workload in WORKLOADS:
        for limit in (1, 2, 8):
            yield Case("txlinux", workload, 8, limit)
        yield Case("txlinux", workload, 8, protocol="mesi-snoop")
    for limit in (1, 8):
        yield Case("txlinux", "counter", 8, limit, arguments="txcounter=mixed")
    yield Case("txlinux", "counter", 8, protocol="mesi-snoop", arguments="txcounter=mixed")
    for protocol in ("flask", "token-b"):
        yield Case("txlinux", "counter", 4, protocol=protocol)


def failure(case: Case, images: dict[str, Image], folder: Path) -> str:
    """What is wrong; empty: nothing."""
    try:
        run = measure(
            images[case.variant],
            case.workload,
            harts=case.harts,
            copies=None,
            size=case.size,
            seed=case.seed,
            limit=case.limit,
            protocol=case.protocol,
            settings=[],
            folder=folder,
            arguments=case.arguments,
        )
    except TandemError as error:
        return str(error)
    if run.instructions < case.instructions:
        return f"{run.instructions} instructions; it is to take {case.instructions}"
    elided = run.transactions.get("commits", 0)
    if case.variant in ELIDING and elided == 0:
        return "no section ran as a transaction"
    if case.variant not in ELIDING and elided != 0:
        return f"{elided} sections ran as transactions"
    return ""


def failure_on_qemu(image: Image, harts: int) -> str:
    try:
        done = run_qemu(image, harts)
    except subprocess.TimeoutExpired:
        return f"it does not end within {QEMU_TIMEOUT_S} s"
    if "txrun: counter: ok" in done.stdout:
        return ""
    return (done.stdout + done.stderr)[-500:]


def run_qemu(image: Image, harts: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            *("qemu-system-riscv64", "-M", "virt", "-smp", str(harts), "-m", "512M", "-nographic"),
            *("-kernel", image.kernel / "Image", "-initrd", image.guest / "initrd.cpio"),
            *("-append", 'console=ttyS0 quiet run="txrun selftest && txrun counter 1 1000"'),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=QEMU_TIMEOUT_S,
        check=False,
    )


def main(pattern: str, folder: Path) -> int:
    chosen = [x for x in dict.fromkeys(cases()) if re.search(pattern, str(x))]
    on_qemu = {f"txlinux-stub on QEMU, {harts} harts": harts for harts in (1, 4, 8)}
    on_qemu = {what: harts for what, harts in on_qemu.items() if re.search(pattern, what)}
    needed = {x.variant for x in chosen} | ({"txlinux-stub"} if on_qemu else set())
    images = {x: build_image(x) for x in VARIANTS if x in needed}
    failed = 0

    def show(what: object, wrong: str) -> None:
        nonlocal failed
        print(f"{what}: {'FAILED: ' + wrong if wrong else 'ok'}", flush=True)
        failed += wrong != ""

    with side_by_side(len(os.sched_getaffinity(0))) as pool:
        for case, wrong in zip(
            chosen, pool.map(lambda x: failure(x, images, folder), chosen), strict=True
        ):
            show(case, wrong)
    for what, harts in on_qemu.items():
        show(what, failure_on_qemu(images["txlinux-stub"], harts))
    total = len(chosen) + len(on_qemu)
    print(f"txlinux: {failed} of {total} failed" if failed or not total else f"txlinux: {total} ok")
    return 1 if failed or not total else 0


if __name__ == "__main__":
    given = sys.argv[1:]
    if len(given) > 1:
        sys.exit(main(given[0], Path(given[1])))
    with tempfile.TemporaryDirectory(prefix="tandem-txlinux-") as name:
        sys.exit(main(given[0] if given else "", Path(name)))

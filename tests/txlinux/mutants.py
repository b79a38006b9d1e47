# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mistakes in the kernel and in the machine that the kernel's own tests (/proc/txselftest) must
find. A part of `scripts/verify txlinux`.

    mutants.py [FOLDER]     where changed kernels are (a new one, which is removed again)

A kernel's mistake is one word of its Image; the machine's are those of mistaken_boot.cc. Status 1
where one is not found, or the right kernel on the right machine fails.
"""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tandem.workload.txlinux.guest import Image, build_image, machine

HARTS = 4
LIMIT = 8
MISTAKEN = Path(os.environ["TANDEM_BUILD"]) / "tests" / "machine_mistaken_boot"
RUN = 'quiet run="txrun selftest"'
PASSED = re.compile(r"^txrun: selftest: ok", re.MULTILINE)

NOP = 0x00000013
CSRR_SP_STXSP = 0x5C102173
CSRW_STXH_A2 = 0x5C061073
CSRRW_S6_STXH = 0x5C001B73
LI_S6_0 = 0x00000B13
XBEGIN, XBEGIN_MASK = 0x0000000B, 0xFFFFF07F
BRANCH, BRANCH_MASK = 0x00000063, 0x0000007F
BEQ, BNE = 0, 1
REGISTERS = 0x01FF8000  # rs1 and rs2 of a branch


@dataclass(frozen=True)
class Kernel:
    """An Image, and where its functions are in it: offset and size in bytes."""

    words: bytes
    functions: dict[str, tuple[int, int]]


def read(image: Image) -> Kernel:
    listed = subprocess.run(
        ["riscv64-linux-gnu-nm", "--print-size", image.kernel / "vmlinux"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    rows = [x.split() for x in listed.splitlines()]
    start = next(int(x[0], 16) for x in rows if x[-1] == "_start")
    functions = {x[3]: (int(x[0], 16) - start, int(x[1], 16)) for x in rows if len(x) == 4}
    return Kernel((image.kernel / "Image").read_bytes(), functions)


def changed(kernel: Kernel, offset: int, word: int) -> bytes:
    return kernel.words[:offset] + struct.pack("<I", word) + kernel.words[offset + 4 :]


def replace(old: int, new: int) -> Callable[[Kernel], bytes]:
    """The one place of an instruction."""

    def mutate(kernel: Kernel) -> bytes:
        whole = kernel.words[: len(kernel.words) // 4 * 4]
        places = [4 * i for i, (x,) in enumerate(struct.iter_unpack("<I", whole)) if x == old]
        assert len(places) == 1, f"{old:#x} is in {len(places)} places"
        return changed(kernel, places[0], new)

    return mutate


def no_subscription(kernel: Kernel) -> bytes:
    """A lock looks free to spin_lock_tx: the first comparison behind its xbegin answers so."""
    offset, size = kernel.functions["_raw_spin_lock_tx"]
    words = [x for (x,) in struct.iter_unpack("<I", kernel.words[offset : offset + size])]
    begin = next(i for i, x in enumerate(words) if x & XBEGIN_MASK == XBEGIN)
    for i, word in enumerate(words[begin + 1 :], begin + 1):
        kind = word >> 12 & 7
        both = word >> 15 & 31 != 0 and word >> 20 & 31 != 0
        if word & BRANCH_MASK == BRANCH and kind in (BEQ, BNE) and both:
            # Equal halves are a free lock: always, or never away from it.
            always = word & ~REGISTERS if kind == BEQ else NOP
            return changed(kernel, offset + 4 * i, always)
    raise AssertionError("_raw_spin_lock_tx compares nothing")


KERNELS: dict[str, Callable[[Kernel], bytes]] = {
    "spin_lock_tx does not look at its lock": no_subscription,
    "a trap's frame at the interrupted sp": replace(CSRR_SP_STXSP, NOP),
    "the handle is not given back": replace(CSRW_STXH_A2, NOP),
    "the handle is not kept": replace(CSRRW_S6_STXH, LI_S6_0),
}
MACHINES = {
    "an abort leaves sstatus": "keep-status",
    "early release above the begin": "release-above",
    "an abort leaves translations": "keep-translations",
}


def console(command: list[str | Path]) -> str:
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace"
    )
    if done.returncode == 2:
        raise AssertionError(f"{command[0]}: {done.stderr}")
    return done.stdout.replace("\r", "")


def on_machine(kernel: Path, guest: Path) -> str:
    return console(
        [
            *(machine(), "machine", "boot", "--harts", str(HARTS), "--tx-limit", str(LIMIT)),
            *("--kernel", kernel, "--initrd", guest, "--append", RUN, "--limit", "5G"),
        ]
    )


def on_mistaken(mistake: str, kernel: Path, guest: Path) -> str:
    return console([MISTAKEN, mistake, kernel, guest, str(HARTS), str(LIMIT), RUN])


def reason(shown: str) -> str:
    """How it was found: what failed, or that the kernel died."""
    for pattern in (r"^.*: FAILED .*$", r"Kernel panic.*$", r"Oops.*$"):
        if found := re.search(pattern, shown, re.MULTILINE):
            return found.group(0)
    return "it does not end"


def main(folder: Path) -> int:
    image = build_image("txlinux")
    guest = image.guest / "initrd.cpio"
    right = image.kernel / "Image"
    failed = 0
    for name, shown in (
        ("the right kernel", on_machine(right, guest)),
        ("the right machine", on_mistaken("none", right, guest)),
    ):
        passed = PASSED.search(shown) is not None
        print(f"{name}: {'ok' if passed else 'FAILED: ' + reason(shown)}", flush=True)
        failed += not passed
    kernel = read(image)
    runs: dict[str, Callable[[], str]] = {}
    for at, (name, mutate) in enumerate(KERNELS.items()):
        target = folder / f"Image-{at}"
        target.write_bytes(mutate(kernel))
        runs[name] = lambda target=target: on_machine(target, guest)
    for name, mistake in MACHINES.items():
        runs[name] = lambda mistake=mistake: on_mistaken(mistake, right, guest)
    for name, run in runs.items():
        shown = run()
        found = PASSED.search(shown) is None
        print(f"{name}: {'found: ' + reason(shown) if found else 'NOT FOUND'}", flush=True)
        failed += not found
    print(f"mutants: {failed} wrong" if failed else "mutants: ok")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(main(Path(sys.argv[1])))
    with tempfile.TemporaryDirectory(prefix="tandem-txlinux-") as name:
        sys.exit(main(Path(name)))

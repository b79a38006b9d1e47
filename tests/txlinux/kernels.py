# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The long form: kernels of every variant boot with 1, 4 and 8 harts and pass every workload with
its checks, with small and large limits of restarts, without time and with it. A part of
`scripts/verify txlinux`.

    kernels.py [FOLDER]     where saved machines are (a new one, which is removed again)

Status 1 where anything failed.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tandem.errors import TandemError
from tandem.workload.txlinux.guest import VARIANTS, WORKLOADS, Image, build_image, measure


@dataclass(frozen=True)
class Case:
    variant: str
    workload: str
    harts: int
    limit: int = 8
    protocol: str = "none"
    arguments: str = ""  # of the kernel

    def __str__(self) -> str:
        return " ".join(
            f"{self.variant} {self.workload}, {self.harts} harts, limit {self.limit}, "
            f"protocol {self.protocol} {self.arguments}".split()
        )


def cases() -> Iterator[Case]:
    for variant in VARIANTS:
        for harts in (1, 4, 8):
            yield Case(variant, "counter", harts)
            yield Case(variant, "stress", harts)
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
            size=None,
            seed=1,
            limit=case.limit,
            protocol=case.protocol,
            settings=[],
            folder=folder,
            arguments=case.arguments,
        )
    except TandemError as error:
        return str(error)
    elided = run.transactions.get("commits", 0)
    if case.variant == "txlinux" and elided == 0:
        return "no section ran as a transaction"
    if case.variant != "txlinux" and elided != 0:
        return f"{elided} sections ran as transactions"
    return ""


def main(folder: Path) -> int:
    images = {x: build_image(x) for x in VARIANTS}
    failed = 0
    for case in cases():
        wrong = failure(case, images, folder)
        print(f"{case}: {'FAILED: ' + wrong if wrong else 'ok'}", flush=True)
        failed += wrong != ""
    print(f"txlinux: {failed} failed" if failed else "txlinux: ok")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(main(Path(sys.argv[1])))
    with tempfile.TemporaryDirectory(prefix="tandem-txlinux-") as name:
        sys.exit(main(Path(name)))

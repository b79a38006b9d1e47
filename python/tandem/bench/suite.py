# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What there is to run: the rows (an application with an input) and the variants."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tandem.errors import UserError

__all__ = [
    "APPLICATIONS",
    "DEFAULT_VARIANTS",
    "MACHINE_VARIANTS",
    "NINE_ROWS",
    "ROWS",
    "SIZES",
    "STAMP_ROWS",
    "VARIANTS",
    "Row",
    "Variant",
    "choose_rows",
    "choose_variants",
    "why_unavailable",
]

SIZES = ("test", "small", "medium", "large")


@dataclass(frozen=True, slots=True)
class Row:
    """An application with an input, and the class that STAMP's authors give it, or nothing."""

    name: str
    length: str  # of transactions
    sets: str  # what they read and write
    share: str  # of the time spent in them
    contention: str

    @property
    def application(self) -> str:
        return self.name.partition("-")[0]


# C. Cao Minh et al., "STAMP: Stanford Transactional Applications for Multi-Processing", IISWC 2008:
# the qualitative summary of the applications.
_ROWS = (
    Row("bayes", "long", "large", "high", "high"),
    Row("genome", "medium", "medium", "high", "low"),
    Row("intruder", "short", "medium", "medium", "high"),
    Row("kmeans-high", "short", "small", "low", "low"),
    Row("kmeans-low", "short", "small", "low", "low"),
    Row("labyrinth", "long", "large", "high", "high"),
    Row("ssca2", "short", "small", "low", "low"),
    Row("vacation-high", "medium", "medium", "high", "low/medium"),
    Row("vacation-low", "medium", "medium", "high", "low/medium"),
    Row("yada", "long", "large", "high", "medium"),
)
# The micro-benchmarks: no application, so only where they are named.
_MICRO = tuple(
    Row(f"micro-{x}", "", "", "", "")
    for x in ("counter", "disjoint", "array", "hash-20", "tree-0", "tree-10", "tree-50", "list-20")
)
ROWS = {x.name: x for x in (*_ROWS, *_MICRO)}
STAMP_ROWS = tuple(x.name for x in _ROWS)
APPLICATIONS = tuple(dict.fromkeys(x.application for x in ROWS.values()))
# The amount of work of bayes depends on the order of its sections: ratios of it say little.
NINE_ROWS = tuple(x.name for x in _ROWS if x.name != "bayes")


@dataclass(frozen=True, slots=True)
class Variant:
    """A way to run the sections."""

    name: str
    program: str  # the build of workloads/stamp/Makefile
    summary: str
    enforcement: str = ""  # of tandem-cc
    parallel: bool = True
    counts: bool = False  # there is a build that counts executions of sections


_VARIANTS = (
    Variant("sequential", "sequential", "gcc, no marks; one thread", parallel=False),
    Variant("sequential-clang", "sequential-clang", "clang 19, full LTO", parallel=False),
    Variant("mutex", "mutex", "gcc, one pthread mutex"),
    *(
        Variant(f"libitm-{name}", "gnu-tm", f"gcc -fgnu-tm, GCC's library: {summary}", counts=True)
        for name, summary in (
            ("default", "its own choice"),
            ("ml_wt", "ownership records, written in place"),
            ("gl_wt", "one ownership record"),
            ("htm", "Intel's RTM, else serial"),
            ("serialirr", "one transaction at a time"),
        )
    ),
    *(
        Variant(f"tandem-{name}", "gnu-tm", f"gcc -fgnu-tm, our library: {name}", counts=True)
        for name in ("auto", "eager", "lazy", "norec", "two-phase", "serial")
    ),
    *(
        Variant(
            f"cc-{name}",
            f"cc-{name}",
            f"tandem-cc -ftandem-enforce={name}",
            enforcement=name,
            counts=name == "stm",
        )
        for name in ("global-lock", "locks", "stm", "hybrid", "htm")
    ),
    Variant(
        "cc-hybrid-malloc",
        "cc-hybrid-malloc",
        "tandem-cc -ftandem-enforce=hybrid, allocations count as irrevocable",
        enforcement="hybrid",
    ),
)
VARIANTS = {x.name: x for x in _VARIANTS}
MACHINE_VARIANTS = ("sequential", "mutex", "cc-locks", "cc-stm", "cc-hybrid", "cc-htm")
DEFAULT_VARIANTS = ("sequential", "mutex", "libitm-ml_wt", "libitm-gl_wt", "tandem-auto", "cc-stm")


def choose_rows(names: Sequence[str]) -> list[Row]:
    """The rows of applications or of rows; the nine rows where none are named."""
    chosen: dict[str, Row] = {}
    for name in names or NINE_ROWS:
        found = [x for x in ROWS.values() if name in (x.name, x.application)]
        if not found:
            known = ", ".join([*APPLICATIONS, *(x for x in ROWS if "-" in x)])
            raise UserError(f"there is no application '{name}'; there are {known}")
        chosen.update({x.name: x for x in found})
    return list(chosen.values())


def choose_variants(names: Sequence[str], build: Path, target: str = "") -> list[Variant]:
    """The variants of these names; UserError where one is unknown or cannot be built for
    `target`; empty: this machine."""
    chosen: dict[str, Variant] = {}
    for name in names:
        variant = VARIANTS.get(name)
        if variant is None:
            raise UserError(f"there is no variant '{name}'; there are {', '.join(VARIANTS)}")
        reason = why_unavailable(variant, build, target)
        if reason:
            raise UserError(f"variant {name} is not available: {reason}; leave it out")
        chosen[name] = variant
    return list(chosen.values())


_PROBE = """#include <tandem/tandem.h>
static int count;
TANDEM_ATOMIC static void add(void);
static void add(void) { count++; }
int main(void) {
  add();
  return count - 1;
}
"""


def why_unavailable(variant: Variant, build: Path, target: str = "") -> str:
    """Why the variant cannot be built as its name says, for `target`; empty where it can."""
    if target and variant.program.startswith("gnu-tm"):
        return f"there is no library of gcc's transactions for {target}"
    if target and shutil.which(f"{target}-gcc") is None:
        return f"{target}-gcc is not there; install gcc-{target} and libc6-dev-riscv64-cross"
    if variant.name.startswith("tandem-") and not (build / "lib" / "libitm.so.1").exists():
        return f"{build}/lib/libitm.so.1 is not there"
    if not variant.enforcement:
        return ""
    compiler = build / "bin" / "tandem-cc"
    if not compiler.exists():
        return f"{compiler} is not there"
    with tempfile.TemporaryDirectory(prefix="tandem-bench-") as folder:
        source = Path(folder) / "probe.c"
        source.write_text(_PROBE, encoding="utf-8")
        done = subprocess.run(
            [
                str(compiler),
                f"-ftandem-enforce={variant.enforcement}",
                *([f"--target={target}"] if target else []),
                f"-I{Path(__file__).resolve().parents[3] / 'include'}",
                str(source),
                "-o",
                str(source.with_suffix("")),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
    said = done.stderr.strip().splitlines()
    if done.returncode != 0:
        return said[0].removeprefix("tandem-cc: ") if said else "tandem-cc fails"
    return ""

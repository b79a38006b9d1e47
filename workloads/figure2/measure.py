#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is found of one atomic function of figure2.c, as JSON; whether gcc takes it written out.

measure.py BUILD WORK FUNCTION     BUILD: the folder with bin/tandem; WORK: a scratch folder
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parent / "figure2.c"
GCC = ("gcc", "-fgnu-tm", "-pthread", "-w", "-o", "/dev/null")


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def compiles(tandem: str, mode: str, work: Path) -> int:
    """1 where gcc compiles and links the sections written out."""
    path = work / f"figure2-{mode}.c"
    path.write_text(run(tandem, "rewrite", "--mode", mode, str(SOURCE)), encoding="utf-8")
    return int(subprocess.run([*GCC, str(path)], check=False).returncode == 0)


def main(build: str, work: str, function: str) -> None:
    tandem = str(Path(build) / "bin" / "tandem")
    report = json.loads(run(tandem, "analyze", "--json", "-", str(SOURCE)))
    section = next(x for x in report["sections"] if x["name"] == function)
    modes = [x["mode"] for x in section["locks"]]
    locks = {x["colour"] for other in report["sections"] for x in other["locks"]}
    print(
        json.dumps(
            {
                "colours": len(section["colours"]),
                "all_colours": len(report["colours"]),
                "arrays": len({x for colour in report["colours"] for x in colour["locations"]}),
                "exclusive": modes.count("exclusive"),
                "shared": modes.count("shared"),
                "all_locks": len(locks),
                "irrevocable": int(bool(section["irrevocable"])),
                "locks_compile": compiles(tandem, "locks", Path(work)),
                "hybrid_compiles": compiles(tandem, "hybrid", Path(work)),
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tandem-cc finds out about an application: the columns of LockSTM's Figure 7.

    analyse.py prepare BUILD WORK [APPLICATION...]        compiles them; default: all
    analyse.py measure BUILD WORK APPLICATION CATALOGUE   links one with a report; prints JSON

BUILD is Tandem's build tree. CATALOGUE: `papers`, in which every external function is irrevocable
and may do anything; `malloc-irrevocable`, the built-in one with memory allocation that cannot be
undone; or `built-in`. All files are compiled by tandem-cc, so it sees what PRIVATE
functions do. Exit status 1 where a compiler fails, 2 for the user's mistake.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
APPLICATIONS = (
    *("bayes", "genome", "intruder", "kmeans"),
    *("labyrinth", "ssca2", "vacation", "yada"),
)
CATALOGUES = ("papers", "malloc-irrevocable", "built-in")


def checked(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.stderr.write(done.stderr)
        sys.exit(f"analyse.py: {command[0]} failed with status {done.returncode}")


def prepare(build: Path, work: Path, applications: Sequence[str]) -> None:
    checked(
        [
            "make",
            "-j2",
            "-f",
            str(HERE / "Makefile"),
            f"WORK={work}",
            f"TANDEM_CC={build}/bin/tandem-cc",
            "VARIANTS=analysis",
            f"APPLICATIONS={' '.join(applications)}",
        ]
    )


def lines_of(application: str) -> int:
    """Of the application, with the library."""
    files = [x for folder in (application, "lib") for x in (HERE / folder).glob("*.[ch]")]
    return sum(len(x.read_text(encoding="utf-8").splitlines()) for x in files)


def summary(report: dict[str, Any], application: str) -> dict[str, Any]:
    sections = [x for x in report["sections"] if x["kind"] != "lock-region"]
    classes = [x["class"] for x in sections]
    touched = {name for x in sections for kind in ("reads", "writes") for name in x[kind]}
    return {
        "application": application,
        "lines": lines_of(application),
        "analysis_s": report["analysis"]["seconds"],
        "sections": len(sections),
        "shared_variables": len(touched),
        "lockpick_colours": len({c for x in sections for c in x["colours"]}),
        "non_revocable": classes.count("non-revocable"),
        "hybrid": classes.count("hybrid"),
        "pure": classes.count("pure"),
        "lockstm_colours": len({c["colour"] for x in sections for c in x["locks"]}),
    }


def measure(build: Path, work: Path, application: str, catalogue: str) -> None:
    objects = work / "analysis" / "objects"
    files = [*(objects / application).glob("*.o"), *(objects / "lib").glob("*.o")]
    if not files:
        sys.exit(f"analyse.py: {objects / application}: nothing there; use prepare before")
    with tempfile.TemporaryDirectory(prefix="tandem-analyse-") as folder:
        report = Path(folder) / "report.json"
        command = [
            str(build / "bin" / "tandem-cc"),
            "-O2",
            "-pthread",
            "-ftandem-enforce=none",
        ]
        command += ["-ftandem-points-to=sensitive", f"-ftandem-report={report}"]
        if catalogue == "papers":
            command.append("-ftandem-catalogue=papers")
        elif catalogue != "built-in":
            command.append(f"-ftandem-catalogue={HERE / catalogue}.toml")
        command += [str(x) for x in sorted(files)]
        checked([*command, "-o", f"{folder}/program", "-lm"])
        found = json.loads(report.read_text(encoding="utf-8"))
    print(json.dumps(summary(found, application)))


def mistake(message: str) -> None:
    print(f"analyse.py: {message}; see its first lines", file=sys.stderr)
    sys.exit(2)


def main(words: Sequence[str]) -> None:
    if len(words) < 3 or words[0] not in ("prepare", "measure"):
        mistake("give prepare or measure, BUILD and WORK")
    build, work, rest = Path(words[1]).resolve(), Path(words[2]).resolve(), words[3:]
    for name in rest[:1] if words[0] == "measure" else rest:
        if name not in APPLICATIONS:
            mistake(f"there is no application '{name}'; there are {', '.join(APPLICATIONS)}")
    if words[0] == "prepare":
        prepare(build, work, rest or APPLICATIONS)
    elif len(rest) != 2 or rest[1] not in CATALOGUES:
        mistake(f"measure needs an application and a catalogue: {', '.join(CATALOGUES)}")
    else:
        measure(build, work, rest[0], rest[1])


if __name__ == "__main__":
    main(sys.argv[1:])

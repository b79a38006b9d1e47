#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tandem-cc finds out about Prime, which LockSTM's section 5.1 tells, as JSON.

    analyse.py BUILD OUTPUT

BUILD is Tandem's build tree. Exit status 1 where the compiler fails, 2 for the user's mistake.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().with_name("prime.c")


def main(words: list[str]) -> None:
    if len(words) != 2:
        print("analyse.py: give BUILD and OUTPUT", file=sys.stderr)
        sys.exit(2)
    with tempfile.TemporaryDirectory(prefix="tandem-prime-") as folder:
        report = Path(folder) / "report.json"
        command = [f"{words[0]}/bin/tandem-cc", "-std=gnu17", "-O2", "-pthread", str(SOURCE)]
        command += ["-ftandem-enforce=hybrid", "-ftandem-points-to=sensitive"]
        command += [f"-ftandem-report={report}", "-o", f"{folder}/prime"]
        if subprocess.run(command, check=False).returncode != 0:
            sys.exit(1)
        found = json.loads(report.read_text(encoding="utf-8"))
    sections = {x["name"]: x for x in found["sections"]}
    counts = {
        "analysis_s": found["analysis"]["seconds"],
        "sections": len(sections),
        "colours": len({c for x in sections.values() for c in x["colours"]}),
        "computation_revocable": int(sections["findFactor"]["class"] != "non-revocable"),
        "status_revocable": int(sections["printPrimeCount"]["class"] != "non-revocable"),
    }
    Path(words[1]).write_text(json.dumps(counts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

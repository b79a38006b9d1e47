# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the findings of one rule from a report, one line each, their notes indented, and how many.

Usage: print.py REPORT.json RULE
"""

import json
import sys
from pathlib import Path


def main() -> None:
    report, rule = sys.argv[1:]
    findings = [f for f in json.loads(Path(report).read_text())["findings"] if f["rule"] == rule]
    for finding in findings:
        print(f"{finding['line']}: {finding['message']}")
        for note in finding.get("notes", []):
            print(f"  {note['line']}: {note['message']}")
    print(f"{len(findings)} findings")


main()

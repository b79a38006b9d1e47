# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""describe.py REPORT: prints each section, then each lock site of a report as one line."""

import json
import sys
from pathlib import Path

report = json.loads(Path(sys.argv[1]).read_text())
for section in report["sections"]:
    line = f"section {section['name']} {section['kind']} line {section['line']}"
    if "lock" in section:
        lock = section["lock"]
        shared = " shared" if lock.get("shared") else ""
        line += (
            f": {lock['kind']} {lock['primitive']}{shared} {' '.join(lock['names'])},"
            f" {lock['exits']} exits, {lock['shape']}"
        )
    print(line)
for site in report["lock_sites"]:
    print(
        f"site line {site['line']} {site['function']}: {site['operation']} {site['primitive']}"
        f" {site['lock']}: {' '.join(site['sections'])}{site.get('reason', '')}"
    )

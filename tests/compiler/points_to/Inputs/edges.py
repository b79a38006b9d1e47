# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the conflicts of a report, a pair of sections a line, then what its notes say."""

import json
import sys
from pathlib import Path

report = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
edges = {
    tuple(sorted((section["name"], conflict["with"])))
    for section in report["sections"]
    for conflict in section["conflicts"]
}
for edge in sorted(edges):
    print("edge", *edge)
for finding in report["findings"]:
    if finding["rule"] == "hidden-pointer":
        print("note", finding["line"], finding["message"])

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks a report of workloads/figure2 against Figures 3, 4 and 5 of the LockSTM paper."""

import json
import sys

# section: class (section 3), LockPick's colours (Figures 3 and 4), LockSTM's locks (Figure 5)
EXPECTED = {
    "PromptForX": ("non-revocable", ["A"], [("A", "exclusive")]),
    "SwapXY": ("hybrid", ["A", "B"], [("A", "shared")]),
    "SetY": ("pure", ["B"], []),
    "GetY": ("pure", ["B"], []),
    "SetZ": ("pure", ["C"], []),
    "GetZ": ("pure", ["C"], []),
}

with open(sys.argv[1], encoding="utf-8") as file:
    report = json.load(file)
found = {
    section["name"]: (
        section["class"],
        section["colours"],
        [(lock["colour"], lock["mode"]) for lock in section["locks"]],
    )
    for section in report["sections"]
}
if found != EXPECTED:
    sys.exit(f"expected {EXPECTED}\nfound    {found}")
locations = {colour["name"]: colour["locations"] for colour in report["colours"]}
if locations != {"A": ["x[]"], "B": ["y[]"], "C": ["z[]"]}:
    sys.exit(f"colours protect {locations}")

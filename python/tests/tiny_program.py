# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the times of a made-up parallel program: a function of its arguments and of TINY_ROUND."""

import json
import os
import sys
import time
from pathlib import Path

variant, threads, units, output = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
if log := os.environ.get("TINY_LOG"):
    with open(log, "a", encoding="utf-8") as stream:
        stream.write(f"{os.environ['TINY_ROUND']} {variant} {threads}\n")
if os.environ.get("TINY_FAIL") == f"{os.environ['TINY_ROUND']} {variant} {threads}":
    print("one thing\nwent wrong", file=sys.stderr)
    sys.exit(3)
if os.environ.get("TINY_ODD") == f"{variant} {threads}":
    units += 1
if os.environ.get("TINY_REFUSED") == f"{variant} {threads}":
    print(json.dumps({"outcome": "refused: no such luck"}))
    sys.exit(0)
if os.environ.get("TINY_ENDLESS") == f"{variant} {threads}":
    time.sleep(600)
drift = 1 + int(os.environ["TINY_ROUND"])  # the machine becomes slower with every round
seconds = units * drift / (1 if variant == "plain" else threads)
print(json.dumps({"seconds": seconds}))
print(f"units: {units}", file=sys.stderr)
Path(output).write_text(json.dumps({"nested": [42, "x"]}), encoding="utf-8")

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A libitm.so.1 of gcc's own libitm and what conversions call beyond it
(workloads/memcached/stock_libitm).
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tandem.errors import UserError
from tandem.paths import ROOT
from tandem.workload.steps import must_run

__all__ = ["build_stock_libitm"]

SOURCES = ROOT / "workloads" / "memcached" / "stock_libitm"
# The name that the library depends on gcc's by. It must not be gcc's own, libitm.so.1, which it
# takes for itself.
STOCK = "libitm-stock.so"


def _find_stock() -> Path:
    """gcc's library as its linker finds it, which is not Tandem's."""
    done = subprocess.run(
        ["gcc", "-print-file-name=libitm.so.1"], capture_output=True, text=True, check=False
    )
    for name in (done.stdout.strip(), "/usr/lib/x86_64-linux-gnu/libitm.so.1"):
        path = Path(name)
        if path.is_absolute() and path.is_file():
            return path.resolve()
    raise UserError("gcc's libitm.so.1 is not installed; run: apt-get install libitm1")


def build_stock_libitm(folder: Path) -> Path:
    """Builds it in `folder`, which programs are to have in their run-time search path. The file
    stays as it is where it would be the same. CommandError where it cannot be built.
    """
    stock = _find_stock()
    if shutil.which("gcc") is None:
        raise UserError("gcc is not installed; run: apt-get install gcc")
    folder.mkdir(parents=True, exist_ok=True)
    parts = folder / "parts"
    shutil.rmtree(parts, ignore_errors=True)
    parts.mkdir()
    compile_one = ["gcc", "-O2", "-Wall", "-Wextra", "-fPIC", "-c"]
    # Its functions would else be recognised, and call themselves.
    alone = ["-fgnu-tm", "-fno-builtin", "-fno-tree-loop-distribute-patterns"]
    link = ["gcc", "-shared", "-Wl,--no-as-needed"]
    commands = [
        [*compile_one, *alone, str(SOURCES / "strings.c"), "-o", "strings.o"],
        [*compile_one, str(SOURCES / "entries.c"), "-o", "entries.o"],
        # Only its name counts: gcc's takes its place below.
        [*link, "-x", "c", "/dev/null", f"-Wl,-soname,{STOCK}", "-o", STOCK],
        [
            *(*link, "strings.o", "entries.o", STOCK, "-Wl,-soname,libitm.so.1"),
            f"-Wl,--version-script={SOURCES / 'versions.map'}",
            *("-Wl,-rpath,$ORIGIN", "-o", "libitm.so.1"),
        ],
    ]
    for command in commands:
        log = parts / "log"
        must_run(command, folder=parts, environment=dict(os.environ), log=log)
    (folder / STOCK).unlink(missing_ok=True)
    (folder / STOCK).symlink_to(stock)
    (parts / "libitm.so.1").replace(folder / "libitm.so.1")
    shutil.rmtree(parts)
    return folder / "libitm.so.1"

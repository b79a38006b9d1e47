# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs for the machine, by the cross compiler."""

from __future__ import annotations

import subprocess
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[3]


def compiled(folder: Path, source: Path) -> Path:
    """The program, in `folder`; with our public headers at hand."""
    made = folder / source.stem
    cross = ["riscv64-linux-gnu-gcc", "-O2", "-static", "-pthread", f"-I{SOURCE / 'include'}"]
    subprocess.run([*cross, "-o", str(made), str(source)], check=True)
    return made

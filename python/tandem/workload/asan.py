# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AddressSanitizer at the end of a link, for programs whose locks are converted
(workloads/memcached/asan).
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tandem.errors import UserError
from tandem.paths import ROOT
from tandem.workload.steps import must_run

__all__ = ["PLUGIN", "build_late_asan"]

SOURCE = ROOT / "workloads" / "memcached" / "asan" / "late_asan.cc"
PLUGIN = "late_asan.so"


def build_late_asan(folder: Path) -> Path:
    """The plugin for lld's --load-pass-plugin. CommandError where it cannot be built."""
    try:
        told = subprocess.run(
            ["llvm-config-19", "--cppflags"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise UserError("llvm-config-19 cannot be run; run: apt-get install llvm-19-dev") from error
    folder.mkdir(parents=True, exist_ok=True)
    plugin = folder / PLUGIN
    command = ["clang++-19", "-std=c++20", "-O1", "-fPIC", "-shared", "-fno-rtti"]
    command += [*told.stdout.split(), str(SOURCE), "-o", str(plugin)]
    must_run(command, folder=folder, environment=dict(os.environ), log=folder / "late_asan.log")
    return plugin

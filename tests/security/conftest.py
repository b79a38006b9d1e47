# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs with more rights than their callers, and files that other users have put in the way."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

BUILD = Path(os.environ["TANDEM_BUILD"])
LIBRARIES = BUILD / "lib"
NOBODY = 65534
SECONDS = 60


@pytest.fixture(scope="session")
def open_folder() -> Iterator[Path]:
    """A folder that every user can enter, where programs may have more rights."""
    if os.geteuid() != 0:
        pytest.skip("gives programs and files to other users, which takes root")
    folder = Path(tempfile.mkdtemp(prefix="tandem-security-"))
    folder.chmod(0o755)
    if os.statvfs(folder).f_flag & os.ST_NOSUID:
        pytest.skip(f"{folder} is mounted nosuid")
    yield folder
    shutil.rmtree(folder)


def give_rights(program: Path, kind: str) -> None:
    """setuid root, setgid root, or a capability of the file (linux/capability.h, revision 2)."""
    os.chown(program, 0, 0)
    if kind == "setuid":
        program.chmod(0o4755)
    elif kind == "setgid":
        program.chmod(0o2755)
    else:
        effective, net_raw = 1, 1 << 13
        data = struct.pack("<5I", 0x02000000 | effective, net_raw, 0, 0, 0)
        os.setxattr(program, "security.capability", data)


def run_as(
    user: int, program: Path, environment: dict[str, str], folder: Path = Path("/")
) -> subprocess.CompletedProcess[str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("TANDEM_", "ITM_"))}
    return subprocess.run(
        [str(program)],
        env=inherited | environment,
        cwd=folder,
        user=user,
        group=user,
        extra_groups=[],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=SECONDS,
        check=False,
    )

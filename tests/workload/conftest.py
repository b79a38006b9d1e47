# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that take the place of memcached and of what puts load on it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

FAKE = Path(__file__).parent / "replay/fake_memcached.py"


@pytest.fixture
def fake_memcached(tmp_path: Path) -> Path:
    """A server with the fault that $FAULT names; with clients preloaded it says that they found all
    right.
    """
    program = tmp_path / "memcached"
    program.write_text(
        "#!/bin/sh\n"
        'if [ -n "$LD_PRELOAD" ]; then\n'
        '  echo \'{"operations": 10, "checked": 10}\' > "${TANDEM_REPLAY##*output=}"\n'
        "else\n"
        f'  exec {sys.executable} {FAKE} "$@"\n'
        "fi\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    return program

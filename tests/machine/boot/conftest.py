# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from __future__ import annotations

from pathlib import Path

import pytest
from guests import build


@pytest.fixture(scope="session")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("guest"))


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    image = tmp_path / "disk.img"
    image.write_bytes(b"first line\n".ljust(1 << 20, b"\0"))
    return image

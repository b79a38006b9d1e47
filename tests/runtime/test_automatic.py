# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The algorithm changes while transactions run, hardware among those that it changes to: in the
emulator of RTM (rtm_emulator/) where the processor has none. ctest runs the same without."""

from __future__ import annotations

import os
import subprocess

import pytest
from conftest import LIBRARY, SECONDS, hardware

TEST = LIBRARY.parent / "tests/runtime_automatic_test"


@pytest.mark.parametrize("seed", range(5))
def test_changes_lose_nothing(seed: int) -> None:
    environment = os.environ | hardware(seed) | {"TANDEM_HARDWARE": "on"}
    done = subprocess.run(
        [str(TEST), "--gtest_filter=*lose_nothing", "--gtest_repeat=5"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("[       OK ]") == 5, done.stdout

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""libitm's own test programs, from Debian's gcc-12-source, on the stock library and on ours.

The sources are fetched, never copied into the project (scripts/fetch-gcc-tests).
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from conftest import ALGORITHMS, ROOT, GnuTm

# Programs that are not run, each with its reason.
NOT_RUN = {
    "static_ctor.C": "does not compile; upstream skips it (PR libitm/51822)",
    "throwdown.C": "upstream only compiles it",
}
# Programs that upstream expects to fail because _ITM_dropReferences is not supported.
UNSUPPORTED = ("dropref-2.c", "dropref.C", "dropref.c")
RUNNABLE = [
    "alloc-1.c",
    "cancel.c",
    "clone-1.c",
    "memcpy-1.c",
    "memset-1.c",
    "notx.c",
    "priv-1.c",
    "reentrant.c",
    "simple-1.c",
    "simple-2.c",
    "stackundo.c",
    "txrelease.c",
    "eh-1.C",
    "eh-2.C",
    "eh-3.C",
    "eh-4.C",
    "eh-5.C",
    "libstdc++-pr91488.C",
    "libstdc++-safeexc.C",
    "newdelete.C",
]


@pytest.fixture(scope="session")
def suite() -> Path:
    folder = ROOT / "build/downloads/gcc-tests"
    fetch = [str(ROOT / "scripts/fetch-gcc-tests"), str(folder)]
    done = subprocess.run(fetch, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.fail(f"libitm's tests cannot be fetched: {done.stderr.strip()}")
    return folder


def source_of(suite: Path, name: str) -> Path:
    return suite / ("libitm.c++" if name.endswith(".C") else "libitm.c") / name


def test_every_program_is_accounted_for(suite: Path) -> None:
    found = {path.name for pattern in ("*.c", "*.C") for path in suite.glob(f"libitm.*/{pattern}")}
    assert found == {*RUNNABLE, *UNSUPPORTED, *NOT_RUN}


@pytest.mark.parametrize("algorithm", ["stock", *ALGORITHMS])
@pytest.mark.parametrize("name", RUNNABLE)
def test_runnable(gnu_tm: GnuTm, suite: Path, name: str, algorithm: str) -> None:
    program = gnu_tm.compile(f"suite-{name}", [source_of(suite, name)], ["-I", str(suite)])
    outcome = gnu_tm.run(program, algorithm=algorithm)
    assert outcome.status == 0, outcome.output


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_stock_fails_what_upstream_expects_to_fail(gnu_tm: GnuTm, suite: Path, name: str) -> None:
    program = gnu_tm.compile(f"suite-{name}", [source_of(suite, name)], ["-I", str(suite)])
    assert gnu_tm.run(program).status != 0

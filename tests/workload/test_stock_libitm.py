# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A conversion runs on gcc's libitm, and what the library lacks does what it should."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest
from tandem.workload.stock_libitm import build_stock_libitm

BUILD = Path(os.environ["TANDEM_BUILD"])
SOURCES = Path(__file__).parent / "replay"
SEED = random.SystemRandom().randrange(1 << 31)
CONVERSION = """\
version = 1

[[section]]
locks = ["lock"]
reason = "guards the counters"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_stock_libitm(tmp_path_factory.mktemp("stock")).parent


def output(*command: str | Path) -> str:
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, f"seed {SEED}: {done.stdout}{done.stderr}"
    return done.stdout


def test_strings(folder: Path, tmp_path: Path) -> None:
    program = tmp_path / "strings"
    source = SOURCES / "stock_strings.c"
    output(
        *("gcc", "-O1", "-fno-builtin", "-fgnu-tm", "-Wall", "-Wextra", source, "-o", program),
        f"-Wl,-rpath,{folder}",
    )
    assert str(folder) in output("ldd", program)
    output(program, str(SEED))


@pytest.mark.parametrize("guarded", [False, True])
def test_a_conversion(folder: Path, tmp_path: Path, guarded: bool) -> None:
    conversion = tmp_path / "convert.toml"
    conversion.write_text(CONVERSION + "guarded-by = true\n" * guarded, encoding="utf-8")
    program = tmp_path / "counters"
    output(
        BUILD / "bin" / "tandem-cc",
        *("-O2", SOURCES / "stock_counters.c", "-o", program, "-pthread"),
        *(
            "-ftandem-enforce=stm",
            f"-ftandem-convert={conversion}",
            "-ftandem-inline-barriers=0",
            "-ftandem-short-sections=0",
        ),
        f"-Wl,-rpath,{folder}",
    )
    loaded = output("ldd", program)
    assert str(folder / "libitm-stock.so") in loaded
    # It begins transactions, and adds.
    called = output("nm", "-D", "--undefined-only", program)
    assert "_TANDEM_begin" in called
    assert "_TANDEM_add_4" in called
    assert "_TANDEM_add_8" in called
    assert ("_TANDEM_guarded_by_enter" in called) == guarded
    assert output(program) == "20000 60000\n"


def test_it_is_gccs(folder: Path) -> None:
    library = (folder / "libitm-stock.so").resolve()
    assert BUILD not in library.parents
    assert "_ITM_beginTransaction" in output("nm", "-D", "--defined-only", library)
    own = output("nm", "-D", "--defined-only", folder / "libitm.so.1")
    assert "_ITM_" not in own.replace("_ZGTt", "")

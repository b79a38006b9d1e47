# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""AddressSanitizer at the end of a link finds mistakes in a program whose lock is converted, and
none in one that makes none.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tandem.workload.asan import build_late_asan
from tandem.workload.variants import VARIANTS, sanitized

BUILD = Path(os.environ["TANDEM_BUILD"])
CONVERSION = """\
version = 1

[[section]]
locks = ["lock"]
reason = "guards the sum"
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("asan")
    conversion = folder / "convert.toml"
    conversion.write_text(CONVERSION, encoding="utf-8")
    # As memcached is linked.
    told = sanitized(VARIANTS["hybrid"]).configure[-1].removeprefix("LDFLAGS=")
    options = told.replace("{late_asan}", str(build_late_asan(folder))).split()
    built, compiled = folder / "asan", folder / "asan.o"
    compiler = str(BUILD / "bin" / "tandem-cc")
    source = str(Path(__file__).parent / "replay/asan.c")
    for words in (
        ["-O1", "-g", "-c", source, "-o", str(compiled)],
        [
            *("-O1", "-g", str(compiled), "-o", str(built), "-pthread", *options),
            *("-ftandem-enforce=global-lock", f"-ftandem-convert={conversion}"),
        ],
    ):
        done = subprocess.run([compiler, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return built


def run(program: Path, where: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"ASAN_OPTIONS": "exitcode=99"}
    return subprocess.run(
        [str(program), where],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )


@pytest.mark.parametrize("where", ["inside", "outside"])
def test_a_mistake(where: str, program: Path) -> None:
    done = run(program, where)
    assert done.returncode == 99
    assert "heap-buffer-overflow" in done.stderr


def test_one_command_that_compiles_and_links(tmp_path: Path) -> None:
    """As configure's probes do: the checks are there once, not twice."""
    told = sanitized(VARIANTS["hybrid"]).configure[-1].removeprefix("LDFLAGS=")
    options = told.replace("{late_asan}", str(build_late_asan(tmp_path))).split()
    source = str(Path(__file__).parent / "replay/asan.c")
    built = tmp_path / "asan"
    command = [str(BUILD / "bin" / "tandem-cc"), "-O1", source, "-o", str(built), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert run(built, "not").returncode == 0
    assert "heap-buffer-overflow" in run(built, "inside").stderr


def test_no_mistake(program: Path) -> None:
    done = run(program, "not")
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr


def test_gcc_with_something_preloaded(tmp_path: Path) -> None:
    """As the clients are, before AddressSanitizer's own library."""
    source, library, built = tmp_path / "a.c", tmp_path / "liba.so", tmp_path / "a"
    source.write_text("int a(void) { return 0; }\n", encoding="utf-8")
    options = [x.partition("=")[2].split() for x in sanitized(VARIANTS["gcc"]).configure[-2:]]
    asan = str(Path(__file__).parent / "replay/asan.c")
    for words in (
        ["-shared", "-fPIC", str(source), "-o", str(library)],
        [*options[0], asan, "-o", str(built), "-pthread", *options[1]],
    ):
        done = subprocess.run(["gcc", *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    for where, status in (("not", 0), ("inside", 99)):
        environment = os.environ | {
            "ASAN_OPTIONS": "exitcode=99",
            "LD_PRELOAD": str(library),
        }
        ran = subprocess.run([str(built), where], env=environment, capture_output=True, check=False)
        assert ran.returncode == status, ran.stderr


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_keeps_its_flags(name: str) -> None:
    before, after = VARIANTS[name], sanitized(VARIANTS[name])
    assert after.name == f"{name}-asan"
    for option in before.configure:
        assert any(x.startswith(option) for x in after.configure)
    assert sum(x.startswith("LDFLAGS=") and "-fsanitize=address" in x for x in after.configure) == 1

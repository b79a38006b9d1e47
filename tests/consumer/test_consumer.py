# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `make install` leaves works for others: through CMake, through pkg-config, by the compilers.

The build is installed for /opt/tandem below DESTDIR and used where it then lies: an installation
that knew its prefix, or the build tree, would not work there.
"""

import os
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ["TANDEM_BUILD"])
COUNT = "200000\n"  # two threads of kRounds


def run(*command: str | Path, **environment: str) -> str:
    """Standard output of a command that must succeed."""
    done = subprocess.run(
        [str(word) for word in command],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.args}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    destination = tmp_path_factory.mktemp("destination")
    run("cmake", "--install", BUILD, "--prefix", "/opt/tandem", DESTDIR=str(destination))
    return destination / "opt/tandem"


def test_everything_is_installed(installed: Path) -> None:
    for name in (
        "bin/tandem",
        "bin/tandem-cc",
        "bin/tandem-c++",
        "bin/tandem-ar",
        "bin/tandem-ranlib",
        "bin/tandem-nm",
        "include/tandem/tandem.h",
        "include/tandem/abi.h",
        "lib/libtandem.so",
        "lib/tandem/TandemPass.so",
        "lib/tandem/TandemAttributes.so",
        "lib/tandem/runtime.bc",
        "libexec/tandem-analyze",
        "lib/cmake/tandem/tandemConfig.cmake",
        "lib/pkgconfig/tandem.pc",
    ):
        assert (installed / name).exists(), name


def test_nothing_installed_knows_the_build_tree(installed: Path) -> None:
    """Neither a link nor a run path leads out of the installation."""
    for path in installed.rglob("*"):
        if path.is_symlink():
            assert path.resolve().is_relative_to(installed.resolve()), path
        elif path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
            dynamic = run("readelf", "--dynamic", path)
            paths = [line for line in dynamic.splitlines() if "RUNPATH" in line or "RPATH" in line]
            assert str(BUILD) not in "".join(paths), path


@pytest.mark.parametrize("compiler", ["clang-19", "gcc"])
def test_cmake(installed: Path, tmp_path: Path, compiler: str) -> None:
    run(
        *("cmake", "-S", HERE / "library", "-B", tmp_path, "-G", "Ninja"),
        *(f"-DCMAKE_C_COMPILER={compiler}", f"-DCMAKE_PREFIX_PATH={installed}"),
    )
    run("cmake", "--build", tmp_path)
    assert run(tmp_path / "consumer") == COUNT


def test_cmake_with_the_compilers_alone(installed: Path, tmp_path: Path) -> None:
    """Its tools for archives are found beside them: another LLVM's cannot read this one's."""
    own = installed / "bin"
    run(
        *("cmake", "-S", HERE / "static", "-B", tmp_path, "-G", "Ninja"),
        *(f"-DCMAKE_C_COMPILER={own}/tandem-cc", f"-DCMAKE_CXX_COMPILER={own}/tandem-c++"),
    )
    cache = (tmp_path / "CMakeCache.txt").read_text(encoding="utf-8")
    for tool in ("AR", "RANLIB", "NM"):
        assert f"CMAKE_{tool}:FILEPATH={own}/tandem-llvm-{tool.lower()}\n" in cache
    run("cmake", "--build", tmp_path, "--verbose")
    assert run(tmp_path / "consumer", LD_LIBRARY_PATH=str(installed / "lib")) == COUNT


@pytest.mark.parametrize("compiler", ["clang-19", "gcc"])
def test_pkg_config(installed: Path, tmp_path: Path, compiler: str) -> None:
    flags = run(
        *("pkg-config", "--cflags", "--libs", "tandem"),
        PKG_CONFIG_PATH=str(installed / "lib/pkgconfig"),
    ).split()
    program = tmp_path / "consumer"
    run(compiler, HERE / "library/main.c", "-pthread", "-o", program, *flags)
    assert run(program, LD_LIBRARY_PATH=str(installed / "lib")) == COUNT


@pytest.mark.parametrize("enforcement", ["global-lock", "stm"])
def test_compiler(installed: Path, tmp_path: Path, enforcement: str) -> None:
    program = tmp_path / "sections"
    run(
        *(installed / "bin/tandem-cc", "-O2", "-g", "-pthread"),
        *(f"-ftandem-enforce={enforcement}", HERE / "sections/main.c", "-o", program),
    )
    assert run(program, LD_LIBRARY_PATH=str(installed / "lib")) == COUNT


def test_front(installed: Path, tmp_path: Path) -> None:
    """The installed `tandem` finds its subcommands."""
    assert "analyze" in run(installed / "bin/tandem", "--help")
    report = tmp_path / "report.json"
    run(
        *(installed / "bin/tandem-cc", "-O2", "-g", "-pthread", f"-ftandem-report={report}"),
        *(HERE / "sections/main.c", "-o", tmp_path / "sections"),
    )
    assert "increment" in report.read_text(encoding="utf-8")

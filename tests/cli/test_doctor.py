# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tandem doctor`: what of a machine and of a project will not work."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
from conftest import FORMATS, Tandem


def checks(
    tandem: Tandem, tmp_path: Path, *words: str | Path
) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit status, and the checks by name."""
    told = tmp_path / "doctor.json"
    done = tandem.run("doctor", "--json", told, *words)
    document = json.loads(told.read_text())
    schema = json.loads((FORMATS / "doctor.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(document)
    assert all(check["name"] in done.stdout for check in document["checks"])
    assert all(check["remedy"] in done.stdout for check in document["checks"] if "remedy" in check)
    return done.returncode, {check["name"]: check for check in document["checks"]}


def test_this_machine_can_build_programs(tandem: Tandem, tmp_path: Path) -> None:
    status, found = checks(tandem, tmp_path)
    assert {"platform", "C library", "clang", "runtime", "hardware transactions"} <= set(found)
    assert found["programs in C"]["status"] == found["programs in C++"]["status"] == "ok"
    assert status == 0


def test_without_llvm_nothing_builds(tandem: Tandem, tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    nowhere.mkdir()
    status, found = checks(tandem.with_environment(TANDEM_LLVM_BIN=str(nowhere)), tmp_path)
    assert status == 1
    for name in ("clang", "clang++", "ld.lld", "llvm-ar", "programs in C", "programs in C++"):
        assert found[name]["status"] == "failed", name
        assert found[name]["remedy"]


def test_python_is_asked_for_its_version(tandem: Tandem, tmp_path: Path) -> None:
    status, found = checks(tandem.with_environment(TANDEM_PYTHON="/bin/false"), tmp_path)
    assert (status, found["Python"]["status"]) == (0, "note")
    assert "3.11" in found["Python"]["remedy"]


def project(folder: Path, command: str, cache: str = "") -> Path:
    build = folder / "build"
    build.mkdir(parents=True)
    (folder / "a.c").write_text("int main(void) { return 0; }\n")
    entry = {"directory": str(folder), "file": "a.c", "command": command}
    (build / "compile_commands.json").write_text(json.dumps([entry]))
    if cache:
        (build / "CMakeCache.txt").write_text(cache)
    return folder


def test_a_project_that_is_all_right(tandem: Tandem, tmp_path: Path) -> None:
    status, found = checks(tandem, tmp_path, project(tmp_path / "p", "cc -O2 -c a.c"))
    assert (status, found["compilation database"]["status"]) == (0, "ok")
    assert not any(name.startswith("option ") for name in found)


def test_options_that_are_refused(tandem: Tandem, tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "cc -flto=thin -fno-strict-aliasing -c a.c")
    status, found = checks(tandem, tmp_path, folder)
    assert status == 1
    assert found["option -flto=thin"]["status"] == "failed"
    assert found["option -fno-strict-aliasing"]["status"] == "note"
    assert "option -static" not in found


def test_tools_that_do_not_go_together(tandem: Tandem, tmp_path: Path) -> None:
    cache = (
        "// a comment: CMAKE_AR:FILEPATH=/bin/false\n"
        "CMAKE_C_COMPILER:FILEPATH=/opt/tandem/bin/tandem-cc\n"
        "CMAKE_AR:FILEPATH=/usr/bin/llvm-ar-14\n"
        "CMAKE_RANLIB:FILEPATH=/usr/bin/llvm-ranlib-19\n"
        "CMAKE_EXE_LINKER_FLAGS:STRING=-static\n"
    )
    status, found = checks(tandem, tmp_path, project(tmp_path / "p", "cc -c a.c", cache))
    assert status == 1
    assert found["CMAKE_AR"]["status"] == "failed"
    assert "tandem-ar" in found["CMAKE_AR"]["remedy"]
    assert "CMAKE_RANLIB" not in found
    assert "CMAKE_C_COMPILER" not in found
    assert found["option -static"]["status"] == "failed"
    own = cache.replace("/usr/bin/llvm-ar-14", "/opt/tandem/bin/tandem-llvm-ar")
    assert "CMAKE_AR" not in checks(tandem, tmp_path, project(tmp_path / "q", "cc -c a.c", own))[1]


def test_sources_that_are_gone(tandem: Tandem, tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "cc -c a.c")
    (folder / "a.c").unlink()
    status, found = checks(tandem, tmp_path, folder)
    assert (status, found["compilation database"]["status"]) == (1, "failed")


def test_mistakes(tandem: Tandem, tmp_path: Path) -> None:
    assert "is no folder" in tandem.mistake("doctor", tmp_path / "none")
    folder = project(tmp_path / "p", "cc -c a.c")
    (folder / "build" / "compile_commands.json").write_text("[{]")
    assert "not JSON" in tandem.mistake("doctor", folder)

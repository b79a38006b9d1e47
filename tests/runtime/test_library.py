# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transactional versions of library functions: what the catalogue promises exists, is tested, and
programs that use it, compiled by tandem-cc and by gcc, are right and stay out of serial mode."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from conftest import LIBRARY, ROOT, GnuTm

BUILD = Path(os.environ["TANDEM_BUILD"])
PROGRAMS = Path(__file__).parent / "library"
SOURCES = ROOT / "src" / "runtime" / "library"
SPECULATIVE = ("eager", "lazy", "norec", "two-phase", "auto")


def replacements(file: str) -> dict[str, str]:
    """Function to transactional version, of a built-in catalogue; `*` as its reader expands it."""
    catalogue = tomllib.loads((ROOT / "data" / file).read_text(encoding="utf-8"))
    found: dict[str, str] = {}
    entries = list(catalogue.get("function", {}).items())
    entries += [(name, group) for group in catalogue["group"] for name in group["names"]]
    for name, entry in entries:
        wrapper = entry.get("replacement", "")
        if wrapper.endswith("*"):
            wrapper = wrapper[:-1] + (name[2:] if name.startswith("_Z") else f"{len(name)}{name}")
        if wrapper:
            found[name] = wrapper
        else:
            assert entry["effect"] != "tm-safe", name
    return found


def exported() -> set[str]:
    done = subprocess.run(
        ["nm", "-D", "--defined-only", str(LIBRARY / "libitm.so.1")],
        capture_output=True,
        text=True,
        check=True,
    )
    return {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()}


@pytest.mark.parametrize("file", ["catalogue.toml", "catalogue-deferred-output.toml"])
def test_every_transactional_version_is_exported(file: str) -> None:
    wrappers = replacements(file)
    assert len(wrappers) > 30
    assert set(wrappers.values()) - exported() == set()


def test_every_exported_version_is_called_by_a_test() -> None:
    wrappers = {name for name in exported() if name.startswith("_ZGTt")}
    versions = (ROOT / "src" / "runtime" / "abi" / "libitm.map").read_text(encoding="utf-8")
    stock = set(re.findall(r"_ZGTt\w+", versions.split("TANDEM_1.0")[0]))
    tests = [file.read_text(encoding="utf-8") for file in SOURCES.glob("*_test.cc")]
    text = "\n".join(tests)
    # ON_TEXTS(6, strlen, ...), ON_NUMBERS and their relatives put the name together.
    named = {
        f"_ZGTt{length}{name}" for length, name in re.findall(r"\bON_\w+\((\d+), (\w+),", text)
    }
    # A declaration is not a call.
    calls = re.sub(r"^\w[\w:* ]* \*?_ZGTt\w+\([^;]*\);$", "", text, flags=re.MULTILINE)
    called = named | set(re.findall(r"\b_ZGTt\w+", calls))
    assert len(wrappers - stock) > 140
    assert wrappers - stock - called == set()


def test_the_list_for_calls_through_pointers_is_complete() -> None:
    listed = re.findall(
        r"TANDEM_(?:LOCK_|OUTPUT_)?WRAPPER_OF\((\d+), (\w+)\)",
        (SOURCES / "wrappers.def").read_text(),
    )
    assert all(int(length) == len(name) for length, name in listed)
    plain = {f"_ZGTt{length}{name}" for length, name in listed}
    assert plain == {name for name in exported() if re.match(r"_ZGTt\d", name)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("library")


def build(folder: Path, source: str, *options: str) -> Path:
    program = folder / f"{source}{''.join(options)}".replace("/", "_")
    if program.exists():
        return program
    command = [
        str(BUILD / "bin" / "tandem-cc"),
        "-std=gnu17",
        "-g",
        "-pthread",
        "-Wall",
        "-Wextra",
    ]
    command += ["-Werror", f"-I{ROOT / 'include'}", "-ftandem-enforce=stm", *options]
    command += [str(PROGRAMS / source), "-ltandem_tm", "-o", str(program)]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TANDEM_")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return program


def run_together(
    gnu_tm: GnuTm,
    profile: Path,
    program: Path,
    *arguments: str,
    algorithm: str,
    **variables: str,
) -> str:
    """What it prints, where none of its calls makes a transaction run serially. With `serialised N`
    at its end, which is 0 where nothing but its calls can do that. `auto` may do it too, since on a
    busy machine one at a time is often the best; so there the profile says why each of them was."""
    # Else many restarts in a row, which a machine may be busy enough for, end alone as well.
    environment = {"TANDEM_SERIALISE_AFTER": "never", **variables}
    if algorithm == "auto":
        environment["TANDEM_PROFILE"] = str(profile)
    outcome = gnu_tm.run(program, *arguments, algorithm=algorithm, environment=environment)
    assert outcome.status == 0, outcome.output
    output, found, serialised = outcome.output.rpartition(" serialised ")
    assert found
    if algorithm != "auto":
        assert serialised == "0\n"
        return output
    assert int(serialised) >= 0
    sections = json.loads(profile.read_text(encoding="utf-8"))["sections"]
    demands = [demand for section in sections for demand in section["serialisations"]]
    assert {demand["cause"] for demand in demands} <= {"algorithm"}, demands
    assert sum(demand["count"] for demand in demands) == int(serialised)
    return output


@pytest.mark.parametrize("algorithm", SPECULATIVE)
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_tandem_cc_calls_them_and_serialises_nothing(
    gnu_tm: GnuTm, folder: Path, tmp_path: Path, level: str, algorithm: str
) -> None:
    program = build(folder, "uses.c", level)
    output = run_together(gnu_tm, tmp_path / "profile.json", program, algorithm=algorithm)
    assert output == "wrong 0 posts 400"


def test_they_are_right_where_every_transaction_is_alone(gnu_tm: GnuTm, folder: Path) -> None:
    outcome = gnu_tm.run(build(folder, "uses.c", "-O2"), algorithm="serial")
    assert outcome.status == 0
    assert outcome.output.startswith("wrong 0 posts 400 ")


@pytest.mark.parametrize("algorithm", SPECULATIVE)
def test_output_waits_where_the_program_opts_in(
    gnu_tm: GnuTm, folder: Path, tmp_path: Path, algorithm: str
) -> None:
    program = build(folder, "deferred.c", "-O2", "-ftandem-catalogue=deferred-output")
    output = run_together(gnu_tm, tmp_path / "profile.json", program, algorithm=algorithm)
    assert output.splitlines()[-1] == "total 400"
    sums = [int(number) for number in re.findall(r"sum (\d+)\n", output)]
    # Each transaction printed what it saw, once; commits and output may be in different orders, and
    # another one's output may come between two calls.
    assert sorted(sums) == list(range(1, 401, 2))
    assert output.count("text") == 200
    assert output.count("\n") == 2 * 200


def test_a_result_that_is_used_makes_output_irrevocable(gnu_tm: GnuTm, folder: Path) -> None:
    program = build(folder, "deferred.c", "-O2", "-ftandem-catalogue=deferred-output")
    outcome = gnu_tm.run(program, "ask", algorithm="norec")
    assert "asked\n" in outcome.output
    assert outcome.output.splitlines()[-1].startswith("total 401 serialised ")


@pytest.mark.parametrize("algorithm", [*SPECULATIVE, "serial"])
@pytest.mark.parametrize("enforcement", ["stm", "hybrid"])
def test_the_interface_in_sections_of_tandem_cc(
    gnu_tm: GnuTm, folder: Path, enforcement: str, algorithm: str
) -> None:
    program = build(folder, "interface.c", "-O2", f"-ftandem-enforce={enforcement}")
    outcome = gnu_tm.run(program, algorithm=algorithm)
    expected = "sum right told right passed 8000 doubled 42 halved 22\n"
    assert (outcome.status, outcome.output) == (0, expected)


@pytest.mark.parametrize("serialise_after", ["1", "100"])
@pytest.mark.parametrize("algorithm", [*SPECULATIVE, "serial"])
@pytest.mark.parametrize("enforcement", ["stm", "hybrid"])
def test_waits_in_sections_of_tandem_cc(
    gnu_tm: GnuTm, folder: Path, enforcement: str, algorithm: str, serialise_after: str
) -> None:
    program = build(folder, "waits.c", "-O2", f"-ftandem-enforce={enforcement}")
    environment = {"TANDEM_SERIALISE_AFTER": serialise_after}
    outcome = gnu_tm.run(program, algorithm=algorithm, environment=environment)
    assert (outcome.status, outcome.output) == (0, "arrived 200 opened 50\n")


@pytest.mark.parametrize("algorithm", [*SPECULATIVE, "serial"])
@pytest.mark.parametrize("enforcement", ["stm", "hybrid"])
def test_waits_whose_end_the_section_computes(
    gnu_tm: GnuTm, folder: Path, enforcement: str, algorithm: str
) -> None:
    program = build(folder, "timed.c", "-O2", f"-ftandem-enforce={enforcement}")
    outcome = gnu_tm.run(program, algorithm=algorithm)
    assert (outcome.status, outcome.output) == (0, "in time in time\n")


@pytest.mark.parametrize("algorithm", [*SPECULATIVE, "serial"])
@pytest.mark.parametrize("enforcement", ["stm", "hybrid"])
def test_an_action_gets_what_the_section_has_written(
    gnu_tm: GnuTm, folder: Path, enforcement: str, algorithm: str
) -> None:
    program = build(folder, "told.c", "-O2", f"-ftandem-enforce={enforcement}")
    outcome = gnu_tm.run(program, algorithm=algorithm)
    assert (outcome.status, outcome.output) == (0, "7 5 8\n")


def compiled(gnu_tm: GnuTm, name: str, *options: str) -> Path:
    """By gcc, of the folder library/."""
    program = gnu_tm.folder / f"library-{name}{''.join(options)}"
    if not program.exists():
        command = [
            "gcc",
            "-O2",
            "-w",
            "-fgnu-tm",
            "-fno-builtin",
            "-pthread",
            f"-I{ROOT / 'include'}",
            *options,
        ]
        command += [
            str(PROGRAMS / f"{name}.c"),
            f"-L{LIBRARY}",
            "-ltandem_tm",
            "-o",
            str(program),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return program


@pytest.mark.parametrize("algorithm", [*SPECULATIVE, "htm", "serial"])
def test_a_lock_whose_holder_begins_is_waited_for(gnu_tm: GnuTm, algorithm: str) -> None:
    outcome = gnu_tm.run(compiled(gnu_tm, "held_lock"), algorithm=algorithm)
    assert (outcome.status, outcome.output) == (0, "1 1 2 1\n")


@pytest.mark.parametrize("algorithm", [*SPECULATIVE, "htm", "serial"])
def test_so_it_is_where_it_is_locked_through_a_pointer(gnu_tm: GnuTm, algorithm: str) -> None:
    outcome = gnu_tm.run(compiled(gnu_tm, "held_lock", "-DBY_POINTER"), algorithm=algorithm)
    assert (outcome.status, outcome.output) == (0, "1 1 1 0\n")


@pytest.mark.parametrize("algorithm", [*SPECULATIVE, "htm", "serial"])
@pytest.mark.parametrize("option", ["-Wl,--as-needed", "-Wl,--no-as-needed"])
def test_so_it_is_in_a_library_that_is_loaded_later(
    gnu_tm: GnuTm, algorithm: str, option: str
) -> None:
    """With the runtime, or after it. It has no clones that the runtime is told of."""
    library = compiled(gnu_tm, "held_lock", "-shared", "-fPIC")
    outcome = gnu_tm.run(compiled(gnu_tm, "load", option), str(library), algorithm=algorithm)
    assert (outcome.status, outcome.output) == (0, "1 1 2 1\n")


@pytest.mark.parametrize("algorithm", [*SPECULATIVE, "serial"])
def test_transactions_that_read_nothing_are_waited_for(gnu_tm: GnuTm, algorithm: str) -> None:
    outcome = gnu_tm.run(compiled(gnu_tm, "unread"), algorithm=algorithm)
    assert (outcome.status, outcome.output) == (0, "")


@pytest.mark.parametrize("algorithm", SPECULATIVE)
def test_gcc_calls_them(gnu_tm: GnuTm, tmp_path: Path, algorithm: str) -> None:
    program = compiled(gnu_tm, "gnu")
    profile = tmp_path / "profile.json"
    output = run_together(gnu_tm, profile, program, algorithm=algorithm, TANDEM_HARDWARE="off")
    assert output == "wrong 0"
    # Hardware runs uninstrumented code, too.
    output = run_together(gnu_tm, profile, program, "uninstrumented", algorithm="htm")
    assert output == "wrong 0"


@pytest.mark.parametrize(
    ("option", "says"),
    [("-DPLAIN", "as written"), ("-DADDRESS", "as written"), ("-DWAITS", "with a log")],
)
def test_calls_through_pointers_need_no_log_in_one_thread(
    gnu_tm: GnuTm, option: str, says: str
) -> None:
    """The runtime's own table of lock functions is no use of theirs, and one thread waits for no
    lock's holder; a wait for a condition may end after some time, and needs the log."""
    outcome = gnu_tm.run(compiled(gnu_tm, "pointers_alone", option), algorithm="auto")
    assert (outcome.status, outcome.output) == (0, f"{says}\n")


def test_nor_do_those_of_a_process_with_threads_that_run_alone(gnu_tm: GnuTm) -> None:
    program = compiled(gnu_tm, "pointers_alone", "-DPLAIN")
    outcome = gnu_tm.run(program, algorithm="serial")
    assert (outcome.status, outcome.output) == (0, "as written\n")

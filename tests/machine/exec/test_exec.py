# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tandem machine exec` on static programs of the cross compiler, as a user meets it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[3]
MACHINE = Path(os.environ["TANDEM_BUILD"]) / "libexec" / "tandem-machine"
HERE = Path(__file__).resolve().parent / "programs"
COMPILER = (
    "riscv64-linux-gnu-gcc",
    "-O2",
    "-static",
    "-pthread",
    "-fopenmp",
    "-frounding-math",
    "-w",
)
IMAGE = SOURCE / "images/linux/programs"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("programs")
    made = {}
    for source in [*sorted(HERE.glob("*.c")), *sorted(IMAGE.glob("*.c"))]:
        program = folder / source.stem
        subprocess.run(
            [*COMPILER, "-o", str(program), str(source), "-lm"],
            check=True,
            stderr=subprocess.DEVNULL,
        )
        made[source.stem] = program
    return made


def execute(
    *words: str | Path, folder: Path | None = None, given: str = ""
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(MACHINE), "exec", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=folder,
        input=given,
    )


@pytest.mark.parametrize("harts", ["1", "3"])
@pytest.mark.parametrize("name", ["clocks", "memory", "signals"])
def test_programs_that_check_themselves(programs: dict[str, Path], name: str, harts: str) -> None:
    done = execute("--harts", harts, programs[name])
    assert (done.returncode, done.stdout) == (0, f"{name}: ok\n"), done.stderr


@pytest.mark.parametrize("harts", ["1", "2", "8"])
def test_threads_and_openmp(programs: dict[str, Path], harts: str) -> None:
    done = execute("--harts", harts, programs["threads"], "6", "300")
    assert (done.returncode, done.stdout) == (0, "1800 6300\n"), done.stderr
    done = execute("--harts", harts, "--env", "OMP_NUM_THREADS=4", programs["openmp"], "2000")
    assert (done.returncode, done.stdout) == (0, "2001000, 4 threads\n"), done.stderr


def test_floats_are_those_of_this_machine(programs: dict[str, Path], tmp_path: Path) -> None:
    native = tmp_path / "floats"
    subprocess.run(
        ["clang-19", "-O1", "-ffp-model=strict", "-w", "-o", native, IMAGE / "floats.c", "-lm"],
        check=True,
    )
    expected = subprocess.run([native, "500"], capture_output=True, text=True, check=True).stdout
    assert execute(programs["floats"], "500").stdout == expected


def tree(folder: Path) -> Path:
    folder.mkdir()
    (folder / "given").write_text("of the host\n")
    (folder / "gone").write_text("removed by the guest\n")
    return folder


def test_files_of_the_host_are_read_only(programs: dict[str, Path], tmp_path: Path) -> None:
    folder = tree(tmp_path / "folder")
    done = execute(programs["files"], folder)
    assert (done.returncode, done.stdout) == (0, "files: ok\n"), done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["given", "gone"]
    assert (folder / "given").read_text() == "of the host\n"


def test_writable_folders_are_the_host_s(programs: dict[str, Path], tmp_path: Path) -> None:
    folder = tree(tmp_path / "folder")
    done = execute("--writable", folder, programs["files"], folder)
    assert (done.returncode, done.stdout) == (0, "files: ok\n"), done.stderr
    assert (folder / "given").read_text() == "changed"
    assert (folder / "newer").read_text() == "new one"
    assert not (folder / "gone").exists()
    assert (folder / "link").readlink() == Path("sub/a")


def test_the_status_is_the_program_s(programs: dict[str, Path]) -> None:
    for status in (0, 7, 255):
        done = execute(programs["ends"], "status", str(status))
        assert (done.returncode, done.stdout, done.stderr) == (status, "", "")


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ("null", "touches_nothing+0x2): store page fault, address 0x8 (SIGSEGV)"),
        ("abort", "SIGABRT, which it"),
        ("illegal", "illegal instruction"),
        ("deadlock", "deadlock: every thread waits"),
    ],
)
def test_what_the_guest_does_wrong_is_a_line(
    programs: dict[str, Path], how: str, text: str
) -> None:
    done = execute("--harts", "2", programs["ends"], how)
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1
    assert text in done.stderr


def test_memory_that_ends(programs: dict[str, Path]) -> None:
    done = execute("--memory", "32M", programs["ends"], "memory")
    assert done.returncode == 3
    assert "needs more memory than the machine has, 32 MB" in done.stderr


def test_the_limit_is_exact(programs: dict[str, Path], tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    done = execute("--limit", "123457", "--json", result, programs["ends"], "for-ever")
    assert done.returncode == 3
    assert "no end after 123457 instructions (--limit): hart 0 at 0x" in done.stderr
    assert json.loads(result.read_text())["instructions"] == 123457


def test_what_is_not_served_is_said(programs: dict[str, Path]) -> None:
    done = execute(programs["ends"], "fork")
    assert done.returncode == 9
    assert "processes are not served" in done.stderr


def test_standard_input(programs: dict[str, Path]) -> None:
    text = "".join(f"line {n}\n" for n in range(100)) + "no newline"
    assert execute(programs["ends"], "cat", given=text).stdout == text


def test_the_same_run_has_the_same_states(programs: dict[str, Path], tmp_path: Path) -> None:
    runs = []
    for name in ("one", "two"):
        hashes = tmp_path / name
        execute("--hash-every", "10000", "--hashes", hashes, programs["threads"], "5", "100")
        runs.append(hashes.read_text())
    assert runs[0] == runs[1]
    assert runs[0].count("\n") > 10
    other = tmp_path / "other"
    execute(
        "--seed", "2", "--hash-every", "10000", "--hashes", other, programs["threads"], "5", "100"
    )
    assert other.read_text() != runs[0]


def test_a_trace_names_what_runs(programs: dict[str, Path], tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    done = execute("--harts", "1", "--trace", trace, "--trace-count", "2000", programs["ends"])
    assert done.returncode == 0
    lines = trace.read_text().splitlines()
    assert len(lines) == 2000
    assert "_start" in lines[0]
    assert [int(line.split()[0]) for line in lines] == list(range(2000))


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["/nowhere/program"], "/nowhere/program: cannot be read"),
        (["/bin/true"], "is a program for x86-64"),
        ([__file__], "is not an ELF file"),
        ([], "say which program"),
        (["--memory", "3", "/bin/true"], "--memory 3: is to be"),
        (["--harts", "65", "/bin/true"], "--harts"),
        (["--writable", "/nowhere", "/bin/true"], "x86-64"),
        (["--trace-from", "5", "/bin/true"], "--trace FILE, which is missing"),
        (["--limit", "x", "/bin/true"], "--limit: 'x' is no number"),
    ],
)
def test_mistakes_are_a_line(words: list[str], text: str) -> None:
    done = execute(*words)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert text in done.stderr


def test_dynamic_programs_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "main.c"
    source.write_text("int main(void) { return 0; }\n")
    program = tmp_path / "main"
    subprocess.run(["riscv64-linux-gnu-gcc", "-o", program, source], check=True)
    done = execute(program)
    assert done.returncode == 2
    assert "is dynamically linked" in done.stderr

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs in the syntax of gcc's -fgnu-tm: what tandem-cc makes of them is what gcc does.

Our own two have every form; gcc's own tests (Debian's gcc-12-source, fetched) are compiled, and
those of libitm run.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
BUILD = Path(os.environ["TANDEM_BUILD"])
MODES = ("hybrid", "stm", "htm")

# Tests of gcc's compiler that clang or we take otherwise, each with the reason.
OTHERWISE = {
    "fatomic-1.C": "a transaction is a function's whole body",
    "mangle1.C": "types differ in transaction_safe only",
    "pr71909.C": "a transaction is a function's whole body",
    "template-1.C": "a transaction is a function's whole body",
}
# libitm's tests that are no programs for us.
NOT_RUN = {
    "clone-1.c": "asks the library for clones of functions that no transaction calls",
    "dropref-2.c": "upstream expects it to fail",
    "dropref.c": "upstream expects it to fail",
    "dropref.C": "upstream expects it to fail",
    "eh-3.C": "types differ in transaction_safe only",
    "static_ctor.C": "upstream skips it; in gcc it does not compile",
    "throwdown.C": "upstream only compiles it",
}


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, capture_output=True, text=True, errors="replace", timeout=300, check=False
    )


def tandem(source: Path, *options: str) -> subprocess.CompletedProcess[str]:
    driver = "tandem-cc" if source.suffix == ".c" else "tandem-c++"
    return run([str(BUILD / "bin" / driver), "-fgnu-tm", "-pthread", *options, str(source)])


@pytest.fixture(scope="session")
def suite() -> Path:
    folder = ROOT / "build/downloads/gcc-tests"
    done = run([str(ROOT / "scripts/fetch-gcc-tests"), str(folder)])
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("name", ["syntax.c", "syntax.cc"])
def test_every_form_does_what_it_does_in_gcc(name: str, tmp_path: Path) -> None:
    program = tmp_path / "program"
    gcc = "gcc" if name.endswith(".c") else "g++"
    done = run([gcc, "-fgnu-tm", "-O1", "-pthread", str(HERE / name), "-o", str(program)])
    assert done.returncode == 0, done.stderr
    expected = run([str(program)]).stdout
    assert "counted 40000 40000" in expected
    for mode in MODES:
        for level in ("-O0", "-O2"):
            done = tandem(HERE / name, f"-ftandem-enforce={mode}", level, "-o", str(program))
            assert (done.returncode, done.stderr) == (0, "")
            ended = run([str(program)])
            assert (ended.returncode, ended.stdout) == (0, expected), f"{mode} {level}"


def build(folder: Path, text: str, *options: str, suffix: str = ".c") -> tuple[int, str]:
    source = folder / f"program{suffix}"
    source.write_text(text)
    done = tandem(source, *options, "-o", str(folder / "program"))
    return done.returncode, done.stderr


def test_what_cannot_be_undone_is_an_error_in_an_atomic_transaction(tmp_path: Path) -> None:
    text = '#include <stdio.h>\nint main(void) {{ {} {{ printf("x\\n"); }} return 0; }}\n'
    status, told = build(tmp_path, text.format("__transaction_atomic"))
    assert status == 2
    assert "strict atomic section 'main_1' reaches 'printf'" in told
    assert build(tmp_path, text.format("__transaction_relaxed")) == (0, "")


def test_an_unsafe_function_cannot_be_called_in_an_atomic_transaction(tmp_path: Path) -> None:
    text = """
    static long x;
    __attribute__((transaction_unsafe, noinline)) static void add(void) {{ x++; }}
    int main(void) {{ {} {{ add(); }} return x != 1; }}
    """
    status, told = build(tmp_path, text.format("__transaction_atomic"))
    assert status == 2
    assert "reaches 'add'" in told
    assert build(tmp_path, text.format("__transaction_relaxed")) == (0, "")
    assert run([str(tmp_path / "program")]).returncode == 0


def test_a_pure_function_may_do_what_cannot_be_undone(tmp_path: Path) -> None:
    text = """
    #include <stdio.h>
    #include <unistd.h>
    static long x;
    static void deeper(void) {{ printf("deep\\n"); }}
    __attribute__((transaction_pure)) static void trace(void) {{ deeper(); }}
    extern __attribute__((transaction_pure)) pid_t getppid(void);
    static void (*pointer)(void) = trace;
    int main(void) {{
      __transaction_atomic {{ x++; trace(); pointer(); getppid(); {} }}
      return 0;
    }}
    """
    assert build(tmp_path, text.format(""), "-ftandem-enforce=stm") == (0, "")
    assert run([str(tmp_path / "program")]).stdout == "deep\ndeep\n"
    status, told = build(tmp_path, text.format("deeper();"))
    assert status == 2
    assert "'printf': main_1" in told
    assert "trace" not in told, "the way is not through the pure function"


def test_a_function_is_not_pure_because_it_calls_one_that_calls_it(tmp_path: Path) -> None:
    text = """
    #include <stdio.h>
    static void say(int n);
    __attribute__((transaction_pure)) static void trace(int n) {{ if (n > 0) say(n - 1); }}
    static void say(int n) {{ puts("said"); trace(n); }}
    int main(void) {{ __transaction_atomic {{ {}(1); }} return 0; }}
    """
    status, told = build(tmp_path, text.format("say"))
    assert status == 2
    assert "reaches 'puts'" in told
    assert build(tmp_path, text.format("trace")) == (0, "")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("__transaction_atomic x++;", "'{' or '(' is expected behind a transaction's keyword"),
        ("__transaction_atomic [[inner]] { x++; }", "'outer' is the only attribute"),
        ("atomic_cancel { x++; }", "catch the exception and use '__transaction_cancel'"),
        ("atomic do x++;", "'{' is expected behind 'atomic do'"),
    ],
)
def test_what_is_wrong_is_one_line_with_its_place(body: str, said: str, tmp_path: Path) -> None:
    text = f"static long x;\nint main() {{\n  {body}\n}}\n"
    status, told = build(tmp_path, text, "-fsyntax-only", suffix=".cc")
    assert status == 1
    assert said in told
    assert "program.cc:3:" in told


def test_words_that_are_keywords_in_their_place_only(tmp_path: Path) -> None:
    text = """
    #include <atomic>
    std::atomic<int> a{1};
    int main() {
      int synchronized = 3, atomic_commit = 4;
      long x = 0;
      atomic do { x += synchronized; }
      synchronized { x += atomic_commit; }
      return x + a != 8;
    }
    """
    assert build(tmp_path, text, suffix=".cc") == (0, "")
    assert run([str(tmp_path / "program")]).returncode == 0


@pytest.mark.parametrize("standard", ["c++11", "c++14", "c++17", "c++20"])
def test_older_standards(standard: str, tmp_path: Path) -> None:
    text = "static long x;\nint main() { __transaction_atomic { x = 3; } return x != 3; }\n"
    options = [f"-std={standard}", "-Wall", "-Wextra", "-pedantic"]
    assert build(tmp_path, text, *options, suffix=".cc") == (0, "")
    assert run([str(tmp_path / "program")]).returncode == 0


def test_an_exception_out_of_a_noexcept_transaction_ends_the_program(tmp_path: Path) -> None:
    text = """
    static long x;
    int main() {{
      try {{ __transaction_atomic noexcept{} {{ x = 1; throw 3; }} }} catch (int) {{ return 5; }}
      return 6;
    }}
    """
    assert build(tmp_path, text.format(""), suffix=".cc") == (0, "")
    assert run([str(tmp_path / "program")]).returncode == -6
    assert build(tmp_path, text.format("(false)"), suffix=".cc") == (0, "")
    assert run([str(tmp_path / "program")]).returncode == 5


def expects_an_error(text: str) -> bool:
    return re.search(r"dg-error|dg-message", text) is not None


def test_gcc_s_own_tests_compile(suite: Path, tmp_path: Path) -> None:
    """What gcc accepts is accepted, but for what OTHERWISE names."""
    refused = {}
    for path in sorted((suite / "g++.dg/tm").glob("*.C")):
        text = path.read_text(errors="replace")
        if expects_an_error(text):
            continue
        given = re.findall(r'dg-options\s+"([^"]*)"', text)
        words = [word for word in " ".join(given).split() if re.match(r"-std=|-D", word)]
        made = ["-w", "-c", "-x", "c++", *words, "-o", str(tmp_path / "made.o")]
        gcc = run(["g++", "-fgnu-tm", *made, str(path)])
        if gcc.returncode != 0:
            continue
        done = tandem(path, *made)
        if done.returncode != 0:
            refused[path.name] = done.stderr
    assert {name: told for name, told in refused.items() if name not in OTHERWISE} == {}
    assert set(OTHERWISE) <= set(refused), "passes, and is said not to"


@pytest.mark.parametrize("mode", ["hybrid", "stm"])
def test_libitm_s_own_tests_run(mode: str, suite: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    found = [path for end in ("*.c", "*.C") for path in sorted(suite.glob(f"libitm.*/{end}"))]
    assert len(found) > 20
    for path in found:
        if path.name in NOT_RUN:
            continue
        language = "c" if path.suffix == ".c" else "c++"
        options = [f"-ftandem-enforce={mode}", "-O2", "-w", f"-I{suite}", "-x", language]
        done = tandem(path, *options, "-o", str(program))
        assert done.returncode == 0, f"{path.name}: {done.stderr}"
        assert run([str(program)]).returncode == 0, path.name


def test_locks_undo_nothing(tmp_path: Path) -> None:
    text = (
        "static long x;\nint main(void) {{ __transaction_atomic {{ x = 3; {} }} return x != 3; }}\n"
    )
    status, told = build(tmp_path, text.format("__transaction_cancel;"), "-ftandem-enforce=locks")
    assert status == 2
    assert "locks undo nothing" in told
    assert build(tmp_path, text.format(""), "-ftandem-enforce=locks") == (0, "")
    assert run([str(tmp_path / "program")]).returncode == 0

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compilers take clang's command line: everything that is not a plain compile or link."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Compilers

PROGRAM = '#include <stdio.h>\nint twice(int);\nint main(void) { printf("%d\\n", twice(21)); }\n'
LIBRARY = "int twice(int x) { return 2 * x; }\n"
ASSEMBLY = ".globl three\nthree:\n  movl $3, %eax\n  ret\n"
STRICT = ("-O2", "-Wall", "-Wextra", "-Werror")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "main.c").write_text(PROGRAM)
    (tmp_path / "twice.c").write_text(LIBRARY)
    (tmp_path / "three.s").write_text(ASSEMBLY)
    return tmp_path


def is_bitcode(path: Path) -> bool:
    return path.read_bytes()[:4] == b"BC\xc0\xde"


@pytest.fixture(params=["none", "hybrid"])
def either(request: pytest.FixtureRequest, compilers: Compilers) -> Compilers:
    return compilers.with_environment(TANDEM_ENFORCE=request.param)


def test_steps_are_silent_and_make_bitcode(either: Compilers, folder: Path) -> None:
    either.cc("-Werror", "-c", "three.s", folder=folder)  # clang itself warns of an unused -O2
    for words in (
        ("-c", "main.c"),
        ("-c", "twice.c"),
        ("main.o", "twice.o", "three.o", "-o", "program"),
        ("main.c", "twice.o", "three.s", "-o", "at_once"),
        ("-fsyntax-only", "main.c"),
        ("-E", "main.c", "-o", "main.i"),
        ("-M", "main.c", "-o", "main.d"),
        ("-c", "-MMD", "-MF", "dep.d", "-o", "main2.o", "main.c"),
    ):
        result = either.cc(*STRICT, *words, folder=folder)
        assert (result.stdout, result.stderr) == ("", ""), words
    assert is_bitcode(folder / "main.o")
    assert not is_bitcode(folder / "three.o")
    assert either.run(["./program"], folder).stdout == "42\n"
    assert either.run(["./at_once"], folder).stdout == "42\n"


@pytest.mark.parametrize("enforce", ["stm", "hybrid", "global-lock", "locks", "none"])
def test_libitm_is_ours(compilers: Compilers, folder: Path, enforce: str) -> None:
    """Whatever of GCC's libitm the command line names: as its programs' makefiles do."""
    (folder / "sum.c").write_text(
        "static long y[100];\n__attribute__((atomic)) void f(int n) "
        "{ for (int i = 0; i < n; i++) y[i] += i; }\n"
        "int main(int c, char **v) { (void)v; f(c + 3); return y[3] != 3; }\n"
    )
    gcc = compilers.run(["gcc", "-print-file-name=libitm.so"], folder).stdout.strip()
    assert Path(gcc).exists()
    for words in (
        ["-litm"],
        [f"-L{Path(gcc).parent}", "-litm"],
        [gcc],
        ["-l:libitm.so.1"],
        ["-Wl,-litm"],
    ):
        compilers.cc(
            "-O2",
            f"-ftandem-enforce={enforce}",
            *words,
            "sum.c",
            *words,
            "-o",
            "sum",
            folder=folder,
        )
        compilers.run(["./sum"], folder)


def test_assembly_is_assembly(either: Compilers, folder: Path) -> None:
    listing = either.cc("-O2", "-S", "twice.c", "-o", "-", folder=folder).stdout
    assert "twice:" in listing
    assert "define" not in listing
    either.cc("-O2", "-S", "twice.c", folder=folder)
    either.cc("main.c", "twice.s", "-o", "program", folder=folder)
    assert either.run(["./program"], folder).stdout == "42\n"


def test_standard_input(either: Compilers, folder: Path) -> None:
    defined = either.cc("-dM", "-E", "-", folder=folder, text="").stdout
    assert "#define __clang_major__ 19\n" in defined
    assert "#define __TANDEM__ 1\n" in defined
    either.cc("-x", "c", "-", "-o", "program", folder=folder, text="int main(void){return 0;}")
    assert either.run(["./program"], folder).returncode == 0


def test_response_files(either: Compilers, folder: Path) -> None:
    (folder / "options").write_text("-ftandem-enforce=global-lock -DNAME=\"a b\" '-O2'\n@names")
    (folder / "names").write_text("main.c twice.c")
    either.cc("@options", "-o", "program", folder=folder)
    assert either.run(["./program"], folder).stdout == "42\n"


def test_command_lines_longer_than_a_variable(either: Compilers, folder: Path) -> None:
    either.cc("-c", "three.s", folder=folder)
    deep = folder / ("d" * 200)
    deep.mkdir()
    names = [f"{deep.name}/{i}.o" for i in range(3000)]
    for name in names:
        (folder / name).symlink_to(folder / "three.o")
    (folder / "objects").write_text("\n".join(["main.c", "twice.c", *names]))
    either.cc("-Wl,--allow-multiple-definition", "@objects", "-o", "program", folder=folder)
    assert either.run(["./program"], folder).stdout == "42\n"


def test_two_dashes(either: Compilers, folder: Path) -> None:
    either.cc("-o", "program", "--", "main.c", "twice.c", folder=folder)
    assert either.run(["./program"], folder).stdout == "42\n"


def test_questions(compilers: Compilers, folder: Path) -> None:
    version = compilers.cc("--version", folder=folder).stdout.splitlines()
    assert "clang version 19" in version[0]
    assert version[-1].startswith("tandem-cc ")
    help_text = compilers.cc("--help", folder=folder).stdout
    assert help_text.index("-ftandem-enforce=") < help_text.index("USAGE: clang")
    assert compilers.cc("-dumpversion", folder=folder).stdout.startswith("19.")
    assert "clang version 19" in compilers.cc("-v", folder=folder).stderr
    assert "LLD 19" in compilers.cc("-Wl,--version", folder=folder).stdout
    assert compilers.cc(folder=folder, check=False).returncode == 1
    assert list(folder.glob("a.out")) == []


def test_a_relocatable_link_stays_bitcode(compilers: Compilers, folder: Path) -> None:
    compilers.cc("-O2", "-fPIC", "-c", "main.c", "twice.c", folder=folder)
    compilers.cc("-r", "main.o", "twice.o", "-o", "both.o", folder=folder)
    assert is_bitcode(folder / "both.o")
    compilers.cc("both.o", "-o", "program", folder=folder)
    assert compilers.run(["./program"], folder).stdout == "42\n"


def test_a_program_without_sections_needs_no_runtime(compilers: Compilers, folder: Path) -> None:
    compilers.cc("-O2", "main.c", "twice.c", "-o", "program", folder=folder)
    needed = compilers.run(["readelf", "-d", "program"], folder).stdout
    assert "libtandem" not in needed
    assert "libitm" not in needed


def test_static_links(either: Compilers, folder: Path) -> None:
    either.cc("-O2", "-static", "main.c", "twice.c", "-o", "program", folder=folder)
    assert either.run(["./program"], folder).stdout == "42\n"


def test_the_public_header_is_found(compilers: Compilers, folder: Path) -> None:
    (folder / "user.c").write_text("#include <tandem/tandem.h>\nint x = __TANDEM__;\n")
    compilers.cc(*STRICT, "-c", "user.c", folder=folder)


def test_names_for_the_report_come_without_g(compilers: Compilers, folder: Path) -> None:
    compilers.cc("-O2", "-c", "twice.c", folder=folder)
    listing = compilers.cc("-O2", "-###", "-c", "twice.c", folder=folder).stderr
    assert "-debug-info-kind=" in listing
    assert "-disable-llvm-passes" in listing
    none = compilers.with_environment(TANDEM_ENFORCE="none")
    listing = none.cc("-O2", "-###", "-c", "twice.c", folder=folder).stderr
    assert "-debug-info-kind=" not in listing
    assert "-disable-llvm-passes" not in listing


def test_archives_of_bitcode(either: Compilers, folder: Path) -> None:
    either.cc("-O2", "-c", "twice.c", folder=folder)
    either.run([either.tool("ar"), "rc", "libtwice.a", "twice.o"], folder)
    either.run([either.tool("ranlib"), "libtwice.a"], folder)
    assert " T twice" in either.run([either.tool("nm"), "libtwice.a"], folder).stdout
    either.cc("-O2", "main.c", "-L.", "-ltwice", "-o", "program", folder=folder)
    assert either.run(["./program"], folder).stdout == "42\n"


@pytest.mark.parametrize(
    ("enforce", "said"),
    [
        ("hybrid", "1 transaction, 1 by locks"),
        ("stm", "2 transactions, 0 by locks"),
        ("locks", "0 transactions, 2 by locks"),
    ],
)
def test_a_link_says_what_became_of_sections(
    compilers: Compilers, folder: Path, enforce: str, said: str
) -> None:
    (folder / "three.c").write_text(
        "#include <pthread.h>\n#include <stdio.h>\n"
        "static long x, y, z;\nstatic pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n"
        "__attribute__((atomic)) void f(void) { x++; }\n"
        '__attribute__((atomic)) void g(void) { y++; printf("%ld", y); }\n'
        "void h(void) { pthread_mutex_lock(&lock); z++; pthread_mutex_unlock(&lock); }\n"
        "int main(void) { f(); g(); h(); }\n"
    )
    given = (f"-ftandem-enforce={enforce}", "three.c", "-o", "three")
    assert compilers.cc(*given, folder=folder).stderr == ""
    told = compilers.cc(*given, "-ftandem-verbose", folder=folder).stderr
    assert f"three: 2 atomic sections under {enforce}: {said}; 1 lock region unchanged" in told
    assert told.count("\n") == 1


def test_a_link_that_enforces_nothing_says_so(compilers: Compilers, folder: Path) -> None:
    given = ("-ftandem-enforce=none", "main.c", "twice.c", "-o", "program")
    assert compilers.cc(*given, folder=folder).stderr == ""
    told = compilers.cc(*given, "-ftandem-verbose", folder=folder).stderr
    assert told.startswith("tandem-cc: note: program: atomic sections are neither enforced nor")
    assert told.count("\n") == 1
    # Only of links that make a program or a library.
    for more in ("-###", "-r"):
        told = compilers.cc(*given, more, "-ftandem-verbose", folder=folder).stderr
        assert "neither enforced" not in told


@pytest.mark.parametrize(
    "words", [("p.h",), ("-x", "c-header", "p.h"), ("p.h", "-o", "p.h.gch"), ("-c", "p.h")]
)
def test_headers_are_precompiled(either: Compilers, folder: Path, words: tuple[str, ...]) -> None:
    (folder / "p.h").write_text(
        "#ifndef SEEN\n#define SEEN\n#include <tandem/tandem.h>\n"
        "static inline int g(int x) { tandem_atomic { ++x; } return x; }\n#endif\n"
    )
    made = either.cc("-O2", *words, folder=folder)
    assert (made.stdout, made.stderr) == ("", "")
    (folder / "user.c").write_text("int main(void) { return g(41) != 42; }\n")
    precompiled = "p.h.gch" if "-o" in words else "p.h.pch"
    either.cc("-O2", "-include-pch", precompiled, "user.c", "-o", "user", folder=folder)
    either.run(["./user"], folder)


def test_our_library_by_name(either: Compilers, folder: Path) -> None:
    """Wherever the user's folders have another of the name."""
    (folder / "other").mkdir()
    (folder / "nothing.c").write_text("int nothing;\n")
    soname = "-Wl,-soname,libtandem.so.0"
    either.run(["gcc", "-shared", "-fPIC", soname, "nothing.c", "-o", "other/libtandem.so"], folder)
    (folder / "user.c").write_text(
        "static long n;\n__attribute__((atomic)) void f(void) { ++n; }\n"
        "int main(void) { f(); return n != 1; }\n"
    )
    either.cc("-O2", "-Lother", "user.c", "-ltandem", "-o", "user", folder=folder)
    either.run(["./user"], folder)
    # Not of a name that is not ours, though our folder has it.
    chosen = ("-Wl,-soname,chosen.so", "nothing.c", "-o", "other/libitm.so")
    either.run(["gcc", "-shared", "-fPIC", *chosen], folder)
    (folder / "other/libtandem.so").unlink()
    words = ("-ftandem-enforce=none", "-Lother", "user.c", "-ltandem", "-litm")
    either.cc(*words, "-Wl,--no-as-needed", "-o", "user", folder=folder)
    needed = either.run(["readelf", "-d", "user"], folder).stdout
    assert "[chosen.so]" in needed
    assert "[libitm.so.1]" not in needed

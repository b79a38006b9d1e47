# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tandem analyze`: tables from a fixed report, and reports from sources."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import DATA, FORMATS, Tandem, golden

SERVER = DATA / "server.json"

QUEUE = """\
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int head, verbose;
__attribute__((atomic)) void push(int job) { head = job + SCALE; }
__attribute__((atomic)) void show(void) {
  if (verbose)
    printf("%d\\n", head);
}
int pop(void) {
  pthread_mutex_lock(&lock);
  int job = head;
  if (job == 0) {
    pthread_mutex_unlock(&lock);
    return -1;
  }
  head = 0;
  pthread_mutex_unlock(&lock);
  return job;
}
"""

MAIN = """\
#include <pthread.h>
extern "C" void push(int);
extern "C" int pop();
extern "C" void show();
static void *work(void *unused) {
  push(pop() + 3);
  show();
  return unused;
}
int main() {
  pthread_t other;
  if (pthread_create(&other, nullptr, work, nullptr) != 0)
    return 1;
  work(nullptr);
  return pthread_join(other, nullptr);
}
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A folder with a program in C and C++, and one for temporary files."""
    (tmp_path / "queue.c").write_text(QUEUE)
    (tmp_path / "main.cc").write_text(MAIN)
    (tmp_path / "tmp").mkdir()
    return tmp_path


@pytest.fixture
def sources(tandem: Tandem, program: Path) -> Tandem:
    return tandem.with_environment(TMPDIR=str(program / "tmp"))


def test_help(tandem: Tandem) -> None:
    assert tandem.output("analyze", "--help") == golden("analyze-help.txt")


def test_tables_of_a_report(tandem: Tandem) -> None:
    assert tandem.output("analyze", SERVER) == golden("server.txt")


def test_tables_on_a_terminal(tandem: Tandem) -> None:
    plain = tandem.with_environment(NO_COLOR="1")
    seen = plain.on_terminal(80, "analyze", SERVER)
    assert seen == golden("server-80.txt")
    findings = [line for line in seen.splitlines() if "warning:" in line]
    assert max(len(line) for line in seen.splitlines() if line not in findings) <= 80


def test_colours_only_where_they_are_wanted(tandem: Tandem) -> None:
    assert "\033[31m" in tandem.on_terminal(120, "analyze", SERVER)
    for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        quiet = tandem.with_environment(**variables)
        assert "\033" not in quiet.on_terminal(120, "analyze", SERVER)
    assert "\033" not in tandem.output("analyze", SERVER)


def test_all_names_everything(tandem: Tandem) -> None:
    text = tandem.output("analyze", "--all", SERVER)
    assert "shared: cache[].key, cache[].value, queue.head, stats.hits, stats.puts\n" in text
    assert "external: close, fprintf, libvendor.a(blob.o), usleep, write\n" in text


def test_filters_and_orders(tandem: Tandem) -> None:
    regions = tandem.output("analyze", "--kind", "lock-region", "--sort", "lock", SERVER)
    assert "ATOMIC SECTION" not in regions
    rows = re.findall(r"^(\w+_\d) ", regions, re.MULTILINE)
    assert rows == ["evict_1", "next_job_1", "next_job_2", "next_job_3"]
    by_size = tandem.output("analyze", "--kind", "function,block", "--sort", "size", SERVER)
    assert re.findall(r"^(c\w+) ", by_size, re.MULTILINE)[:3] == [
        "cache_put",
        "cache_get",
        "count_1",
    ]
    assert "LOCK REGION" not in by_size


def test_one_section(tandem: Tandem) -> None:
    text = tandem.output("analyze", "--section", "cache_put", SERVER)
    assert text == golden("cache_put.txt")


def test_json_is_the_same_report(tandem: Tandem, tmp_path: Path) -> None:
    assert tandem.output("analyze", SERVER, "--json", "-") == SERVER.read_text()
    copy = tmp_path / "copy.json"
    assert tandem.output("analyze", SERVER, "--json", copy) == golden("server.txt")
    assert copy.read_text() == SERVER.read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            (),
            "nothing to analyse: name C or C++ files, or a report; see tandem analyze --help",
        ),
        (("none.json",), "none.json: cannot be read: No such file or directory"),
        (("none.c",), "none.c: cannot be read: No such file or directory"),
        (
            ("x.rs",),
            "x.rs: neither C (.c) nor C++ (.cc, .cpp, .cxx, .C) nor a report (.json)",
        ),
        ((str(SERVER), "a.c"), f"{SERVER}: a report is analysed alone"),
        ((str(SERVER), "--", "-O2"), f"{SERVER}: a report takes no flags after '--'"),
        (
            (str(SERVER), "--sort", "x"),
            "--sort: 'x' is no order; use place, name, class, lock or size",
        ),
        (
            (str(SERVER), "--kind", "lock"),
            "--kind: 'lock' is no kind of section; "
            "use function, block, lambda or lock-region, once each",
        ),
        (
            ("a.c", "--points-to", "maybe"),
            "--points-to: 'maybe' is not a points-to mode; use sensitive or insensitive",
        ),
        (
            (str(SERVER), "--jsno", "x"),
            "unknown option '--jsno'; did you mean '--json'?",
        ),
        (
            (str(SERVER), "-p", "."),
            f"{SERVER}: a report is not compiled: leave -p away",
        ),
        (("-p", "none"), "none: cannot be read: No such file or directory"),
        (
            (str(SERVER), "--json", "-", "--html", "-"),
            "standard output: two outputs cannot go to one file",
        ),
        (
            (str(SERVER), "--json", "x", "--html", "y/z"),
            "y/z: cannot be written: No such file or directory",
        ),
        (
            (str(SERVER), "--error-on-findings=lock-oder"),
            "--error-on-findings: 'lock-oder' is no rule; did you mean 'lock-order'?",
        ),
        (
            (str(SERVER), "--suppress", "none.toml", "--html", "x.html"),
            "none.toml: cannot be read: No such file or directory",
        ),
        ((str(SERVER), "--json"), "--json needs a value: --json FILE"),
        (
            (str(SERVER), "--section", "cache_pit"),
            "there is no section 'cache_pit'; did you mean 'cache_put'?",
        ),
        (
            (str(SERVER), "--json", "/nonexistent/r.json"),
            "/nonexistent/r.json: cannot be written: No such file or directory",
        ),
        ((str(SERVER), "--json", "."), ".: cannot be written: Is a directory"),
    ],
)
def test_mistakes(tandem: Tandem, tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    assert tandem.mistake("analyze", *words, folder=tmp_path) == f"tandem analyze: {message}"
    assert list(tmp_path.iterdir()) == []


def test_a_report_that_is_no_json_has_line_and_column(tandem: Tandem, tmp_path: Path) -> None:
    file = tmp_path / "bad.json"
    file.write_text('{\n  "version": 1,\n  "sections": [,]\n}\n')
    assert tandem.mistake("analyze", file).startswith(
        f"tandem analyze: {file}:3:16: not JSON: unexpected ','"
    )


def test_sources_become_a_report(sources: Tandem, program: Path) -> None:
    written = sources.output(
        "analyze",
        "queue.c",
        "main.cc",
        "--json",
        "-",
        "--",
        "-DSCALE=2",
        folder=program,
    )
    report: dict[str, Any] = json.loads(written)
    jsonschema.Draft202012Validator(
        json.loads((FORMATS / "report.schema.json").read_text())
    ).validate(report)
    sections = {section["name"]: section for section in report["sections"]}
    assert set(sections) == {"push", "show", "pop_1"}
    assert (sections["push"]["kind"], sections["push"]["line"]) == ("function", 5)
    assert sections["push"]["file"] == "queue.c"
    assert sections["push"]["writes"] == ["head"]
    assert sections["show"]["class"] == "non-revocable"
    [call] = [x for x in sections["show"]["irrevocable"] if x["callee"] == "printf"]
    assert call["chain"] == ["show", "printf"]
    assert call["places"] == ["queue.c:8"]
    assert sections["pop_1"]["lock"] == {
        "names": ["lock"],
        "kind": "mutex",
        "primitive": "pthread-mutex",
        "exits": 2,
        "shape": "same-function",
    }
    assert report["output"] == ""
    assert report["analysis"]["instructions"] > 10
    assert list((program / "tmp").iterdir()) == []
    # What it writes, it reads.
    (program / "again.json").write_text(written)
    assert sources.output("analyze", "again.json", "--json", "-", folder=program) == written


def test_sources_are_seen_as_a_link_sees_them(sources: Tandem, program: Path) -> None:
    (program / "own.cc").write_text(
        "#include <cstdlib>\n"
        "#include <pthread.h>\n"
        "long made;\n"
        "void *operator new(std::size_t n) { ++made; return std::malloc(n); }\n"
        "int *kept;\n"
        "__attribute__((atomic)) void make() { kept = new int[3]; }\n"
        "void *run(void *none) { make(); return none; }\n"
        "int main() {\n"
        "  pthread_t other;\n"
        "  pthread_create(&other, nullptr, run, nullptr);\n"
        "  make();\n"
        "}\n"
    )
    report = json.loads(sources.output("analyze", "own.cc", "--json", "-", folder=program))
    assert "made" in report["sections"][0]["writes"], "new[] calls the program's own new"


def test_sources_give_tables(sources: Tandem, program: Path) -> None:
    text = sources.output("analyze", "queue.c", "main.cc", "--", "-DSCALE=2", folder=program)
    assert re.search(r"^push +queue\.c:5 +function ", text, re.MULTILINE)
    assert "1 lock region: 1 mutex, 0 trylock, 0 wait; 1 same-function" in text
    assert "2 atomic sections: 1 non-revocable, 1 hybrid, 0 pure\n" in text


def test_the_environment_of_a_build_does_not_matter(sources: Tandem, program: Path) -> None:
    odd = sources.with_environment(
        TANDEM_ENFORCE="nonsense",
        TANDEM_REPORT="/nonexistent/%o",
        TANDEM_CATALOGUE="/nonexistent",
    )
    assert "push" in odd.output("analyze", "queue.c", "main.cc", "--", "-DSCALE=2", folder=program)


def test_transactions_of_gcc_need_its_flag(sources: Tandem, tmp_path: Path) -> None:
    (tmp_path / "sum.c").write_text(
        "long sum;\nvoid add(void) { __transaction_atomic { sum++; } }\n"
    )
    plain = sources.run("analyze", "sum.c", folder=tmp_path)
    assert plain.returncode == 2
    assert plain.stderr.splitlines()[-1].endswith("; its transactions need `-- -fgnu-tm`")
    with_flag = sources.output("analyze", "sum.c", "--", "-fgnu-tm", folder=tmp_path)
    assert re.search(r"^1 atomic section: ", with_flag, re.MULTILINE)


@pytest.mark.parametrize("broken", ["queue.c", "main.cc"])
def test_a_file_that_does_not_compile(sources: Tandem, program: Path, broken: str) -> None:
    (program / broken).write_text("int main( { return 0; }\n")
    result = sources.run(
        "analyze",
        "queue.c",
        "main.cc",
        "--json",
        "r.json",
        "--",
        "-DSCALE=2",
        folder=program,
    )
    assert result.returncode == 2
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert re.match(rf"{re.escape(broken)}:1:\d+: error: ", lines[0])
    assert lines[-1] == f"tandem analyze: {broken} does not compile: see the message above"
    assert not (program / "r.json").exists()
    assert list((program / "tmp").iterdir()) == []


def test_warnings_of_the_compiler_pass_through(sources: Tandem, program: Path) -> None:
    (program / "main.cc").write_text('#warning "look here"\n' + MAIN)
    result = sources.run("analyze", "queue.c", "main.cc", "--", "-DSCALE=2", folder=program)
    assert result.returncode == 0
    assert "main.cc:1:2: warning: " in result.stderr
    assert "push" in result.stdout


def test_files_that_do_not_fit_together(sources: Tandem, program: Path) -> None:
    (program / "twice.c").write_text("void push(int job) { (void)job; }\n")
    message = sources.mistake("analyze", "queue.c", "twice.c", "--", "-DSCALE=2", folder=program)
    assert message.startswith("tandem analyze: twice.c: does not link with the files before it: ")
    assert "push" in message


@pytest.mark.parametrize("flag", ["-E", "-S", "-fsyntax-only", "-fno-lto"])
def test_flags_that_choose_another_output(sources: Tandem, program: Path, flag: str) -> None:
    (program / "one.c").write_text("int one(void) { return 1; }\n")
    result = sources.run("analyze", "one.c", "--", flag, folder=program)
    if result.returncode == 0:  # ours came last and won
        assert "no atomic sections" in result.stdout
    else:
        assert result.returncode == 2
        last = result.stderr.splitlines()[-1]
        assert last.startswith("tandem analyze: one.c: the compiler wrote no ")
    assert sorted(file.name for file in program.iterdir()) == [
        "main.cc",
        "one.c",
        "queue.c",
        "tmp",
    ]
    assert list((program / "tmp").iterdir()) == []


def test_an_unreadable_catalogue(sources: Tandem, program: Path) -> None:
    message = sources.mistake(
        "analyze",
        "queue.c",
        "--catalogue",
        "none.toml",
        "--",
        "-DSCALE=2",
        folder=program,
    )
    assert message == "tandem analyze: none.toml: cannot be read: No such file or directory"
    (program / "bad.toml").write_text("version = 1\n[function\n")
    message = sources.mistake(
        "analyze",
        "queue.c",
        "--catalogue",
        "bad.toml",
        "--",
        "-DSCALE=2",
        folder=program,
    )
    assert re.match(r"tandem analyze: bad\.toml:2:\d+: ", message)


def test_the_catalogue_decides(sources: Tandem, program: Path) -> None:
    (program / "strict.c").write_text(
        "#include <stdlib.h>\nint n;\n__attribute__((atomic)) void f(void) { n = abs(n); }\n"
        "void *p;\n__attribute__((atomic)) void g(void) { p = malloc(1); }\n"
    )

    def classes(*words: str) -> dict[str, str]:
        flags = ("--", "-fno-builtin")
        text = sources.output("analyze", "strict.c", "--json", "-", *words, *flags, folder=program)
        return {section["name"]: section["class"] for section in json.loads(text)["sections"]}

    assert classes()["g"] != "non-revocable"
    assert classes("--catalogue", "papers")["g"] == "non-revocable"


def test_no_temporary_folder(tandem: Tandem, program: Path) -> None:
    lost = tandem.with_environment(TMPDIR="/nonexistent")
    assert lost.mistake("analyze", "queue.c", folder=program) == (
        "tandem analyze: /nonexistent: no temporary folder can be made in it: "
        "No such file or directory; set TMPDIR"
    )


def test_a_signal_ends_the_compilers_and_cleans_up(sources: Tandem, program: Path) -> None:
    # The preprocessor waits for the other end of the pipe.
    os.mkfifo(program / "never.h")
    (program / "slow.c").write_text('#include "never.h"\n')
    child = subprocess.Popen(
        [str(sources.build / "bin" / "tandem"), "analyze", "slow.c"],
        cwd=program,
        env=sources.variables(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    temporary = program / "tmp"
    while not list(temporary.glob("tandem.*/*.log")):
        assert child.poll() is None
        time.sleep(0.01)
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=60)
    assert child.returncode == -signal.SIGTERM
    assert list(temporary.iterdir()) == []

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parts of `tandem workload programs` that build nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tandem.errors import FormatError
from tandem.workload.cli import main
from tandem.workload.programs.description import FOLDER, read_program
from tandem.workload.programs.sources import acquisitions_in

SOURCE = """# 1 "a.c"
# 1 "/usr/include/pthread.h" 1 3 4
static inline void x(void) { pthread_mutex_lock(0); }
# 3 "a.c" 2
extern int pthread_mutex_lock(pthread_mutex_t *);
void enter(void *m)
{
  pthread_mutex_lock(m);
}
void f(void) {
  enter(a); pthread_mutex_lock(b);
  puts("pthread_mutex_lock(c)");
  return enter(d);
}
"""


def test_acquisitions_are_counted_where_they_are_meant() -> None:
    found = acquisitions_in(SOURCE, ["enter"])
    assert found == {("a.c", 9, 2), ("a.c", 9, 12), ("a.c", 11, 9)}
    assert acquisitions_in(SOURCE, []) == {("a.c", 6, 2), ("a.c", 9, 12)}


GOOD = 'version = 1\nsource = "s"\noutput = "o"\nbuild = [["make"]]\n[job]\ncommand = ["x"]\n'


def test_objects_that_hold_a_lock_are_counted() -> None:
    text = """# 1 "a.cc"
class Guard { public: explicit Guard(std::mutex *m); };
void use() {
  std::lock_guard<std::mutex> one(m);
  std::unique_lock two{m};
  Guard three(&m);
}
"""
    found = acquisitions_in(text, ["Guard"])
    assert {line for _, line, _ in found} == {3, 4, 5}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD.replace("version = 1", "version = 2"), "needs version = 1 and [job]"),
        (GOOD.replace("output", "outputs"), "'outputs' is not known; use build, "),
        (GOOD + 'comand = ["y"]\n', "'comand' is not known; use command, "),
        (GOOD.replace('"s"', "1"), "source is not a text"),
        (GOOD.replace('source = "s"', 'folder = "nowhere"'), "nowhere is no folder"),
        (GOOD.replace('source = "s"\n', ""), "needs either source, a Debian package, or folder"),
        (GOOD.replace('[["make"]]', '["make"]'), "build is not a list of texts"),
        (GOOD + "input_mib = 0\n", "job.input_mib is not a number from 1 to 1024"),
        (GOOD + "stdin = 1\n", "job.stdin is neither true nor false"),
        (GOOD.replace('command = ["x"]', ""), "has no job.command"),
        (GOOD.replace('"x"', '"{nope}"'), "job.command: '{nope}' is none of program, "),
        (GOOD.replace('"make"', '"a{"'), "build: 'a{': "),
        ("version = ", "invalid value"),
    ],
)
def test_mistakes_in_files(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError) as error:
        read_program(file)
    assert str(error.value).startswith(str(file))
    assert said in str(error.value)


def test_every_program_of_ours_can_be_read() -> None:
    files = sorted(FOLDER.glob("*.toml"))
    assert len(files) >= 5
    for file in files:
        read_program(file)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nosuch"], "nosuch.toml: is not there; tandem workload programs --help lists"),
        (["--threads", "0"], "'0' is not a number from 1 to 1024"),
        (["--enforce", "stm,tm"], "'tm' is none of locks, stm, hybrid"),
        (["--json", "/nowhere/x"], "--json /nowhere/x: cannot be written"),
    ],
)
def test_mistakes(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["programs", *words]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert said in shown.err
    assert shown.err.count("\n") == 1


def test_a_minute_of_the_job_s_own_words(tmp_path: Path) -> None:
    path = tmp_path / "one.toml"
    path.write_text(GOOD + 'minute = ["{command}", "{threads}"]\n', encoding="utf-8")
    assert read_program(path).job.minute == ("x", "{threads}")

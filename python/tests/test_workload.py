# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `tandem workload` reads from other programs; `make verify` runs the whole."""

from __future__ import annotations

import os
import re
import threading
import tomllib
from collections import Counter
from concurrent.futures import Future
from pathlib import Path

import pytest

from tandem.errors import CommandError, UserError
from tandem.workload.cli import main
from tandem.workload.memcached import CONVERSIONS, Memcached, refusal
from tandem.workload.sites import Call, Site, calls_in, compare
from tandem.workload.steps import must_run, run, side_by_side
from tandem.workload.suite import (
    EXPECTED_SKIPS,
    SuiteResult,
    print_observed,
    read_prove,
    read_record,
)
from tandem.workload.variants import VARIANTS
from tandem.workload.versions import Given, given

PREPROCESSED = """\
# 1 "assoc.c"
# 1 "./memcached.h" 1
void item_lock(unsigned hv);
static inline int peek(void) { return pthread_mutex_trylock(&gate) == 0; }
# 40 "assoc.c" 2
extern int pthread_mutex_lock(pthread_mutex_t *lock) __attribute__((nonnull(1)));
void item_lock(unsigned hv) {
    pthread_mutex_lock(&item_locks[hv]);
}
static void *worker(void *argument) {
    void *item_lock = ((void *)0);
    puts("pthread_mutex_lock(");
    char brace = '{';
    item_lock (1); pthread_mutex_lock(&a); pthread_mutex_lock
        (&b);
    pthread_cond_timedwait(&c, &a, 0);
}
"""


def test_calls_are_told_from_declarations_variables_and_text() -> None:
    assert list(calls_in(PREPROCESSED)) == [
        Call("memcached.h", 2, "peek", "pthread_mutex_trylock"),
        Call("assoc.c", 42, "item_lock", "pthread_mutex_lock"),
        Call("assoc.c", 48, "worker", "item_lock"),
        Call("assoc.c", 48, "worker", "pthread_mutex_lock"),
        Call("assoc.c", 49, "worker", "pthread_mutex_lock"),
        Call("assoc.c", 50, "worker", "pthread_cond_timedwait"),
    ]


def test_a_call_inside_a_wrapper_is_its_callers_entry() -> None:
    calls = list(calls_in(PREPROCESSED))
    expected = Counter(
        [
            Site("memcached.h", 2, "trylock"),
            Site("assoc.c", 48, "mutex"),
            Site("assoc.c", 48, "mutex"),
            Site("assoc.c", 49, "mutex"),
            Site("assoc.c", 50, "wait"),
        ]
    )
    same = compare(expected, calls)
    assert same.equal
    assert list(same.lines()) == [
        "check: 5 region entries found; 3 + 1 + 1 = 5 counted in the preprocessed sources, on the "
        "same lines (4 + 1 + 1 calls, of which 1 + 0 inside wrappers, whose callers count)"
    ]
    missed = compare(expected - Counter([Site("assoc.c", 50, "wait")]), calls)
    assert not missed.equal
    assert list(missed.lines())[1:] == ["  only the sources:  assoc.c:50: wait (1)"]


def _result(*lines: str) -> SuiteResult:
    result = SuiteResult(testapp_ok=1)
    read_prove(lines, result)
    return result


def test_a_suite_passes_with_the_expected_skips() -> None:
    skips = [f"{file} ... skipped: not enabled" for file in EXPECTED_SKIPS]
    result = _result("t/a.t .. ok", *skips, f"Files={1 + len(skips)}, Tests=7,  1 wallclock secs")
    assert list(result.problems()) == []
    assert list(result.differences()) == []
    assert (result.passed, result.tests) == (["t/a.t"], 7)


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (["t/a.t .. Failed 1/3 subtests", "Files=1, Tests=3, 1 w"], "t/a.t: Failed 1/3 subtests"),
        (["t/a.t .. skipped: no luck", "Files=1, Tests=0, 1 w"], "t/a.t: skipped, which was not"),
        (["t/a.t .. ok"], "prove counted 0 files, and reported on 1"),
        (["t/a.t .. ok", "Files=2, Tests=3, 1 w"], "prove counted 2 files, and reported on 1"),
    ],
)
def test_a_suite_fails(lines: list[str], problem: str) -> None:
    assert any(text.startswith(problem) for text in _result(*lines).problems())


def test_what_ran_instead_of_skipping_is_said() -> None:
    assert len(list(_result("t/proxy.t .. ok").differences())) == len(EXPECTED_SKIPS)


def test_a_command_ends_with_its_time(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="ended after 0 s"):
        run(["sleep", "60"], folder=tmp_path, environment={}, log=tmp_path / "log", timeout_s=0.2)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["redis", "build"],
        ["memcached", "bild"],
        ["memcached", "build", "--variant", "tcc"],
        ["memcached", "build", "-j", "0"],
        ["memcached", "suite", "--report", "x"],
        ["memcached", "build", "--test", "t/basic.t"],
        ["memcached", "build", "--variant", "gcc", "--report", "x"],
        ["memcached", "analyse", "--report", "/nowhere/x"],
        ["memcached", "build", "--folder", "/proc/x"],
        ["memcached", "sample", "--variant", "gcc", "--count"],
        ["memcached", "sample", "--rounds", "2"],
        ["memcached", "replay", "--count"],
        ["memcached", "classes", "--variant", "gcc"],
    ],
)
def test_a_wrong_command_line_is_one_line_and_status_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("tandem workload: ")
    assert err.count("\n") == 1


def test_help_lists_the_workloads(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    words = re.findall(r"^  (\w+) {2,}\S", capsys.readouterr().out, re.MULTILINE)
    assert words == ["memcached", "apache", "txlinux", "programs"]
    for word in words:
        with pytest.raises(SystemExit):
            main([word, "--help"])
        assert f"tandem workload {word}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name a workload: memcached, apache, txlinux, programs"),
        (["mysql"], "there is no workload 'mysql'; there are memcached, apache, txlinux, programs"),
    ],
)
def test_no_such_workload(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err == f"tandem workload: {said}\n"


STAGES = ("plain", "callable", "max", "lib", "oncommit")


def test_the_stages_differ_by_what_their_catalogues_leave_unsafe() -> None:
    unsafe = []
    for stage in STAGES:
        file = CONVERSIONS / f"stage-{stage}.toml"
        lists = tomllib.loads(file.read_text(encoding="utf-8")).get("functions", {})
        unsafe.append({*lists.get("irrevocable", ()), *lists.get("unsafe", ())})
        for branch in ("it", "ip"):
            told = VARIANTS[f"{branch}-{stage}"].environment
            assert told["TANDEM_CATALOGUE"].endswith(file.name)
    assert unsafe[0] - unsafe[1] == {"(other source file)"}
    assert unsafe[1] - unsafe[2] == {"(volatile access)"}
    assert unsafe[0] > unsafe[1] > unsafe[2] > unsafe[3] > unsafe[4] == set()
    assert "memcpy" in unsafe[2] - unsafe[3]


def test_no_conversion_of_the_papers_replaces_what_they_measure() -> None:
    """A lock that guards its data needs no detection of conflicts."""
    files = {
        *CONVERSIONS.glob("1.*/*.toml"),
        *CONVERSIONS.glob("single-*.toml"),
        *(CONVERSIONS / x for x in ("convert-it.toml", "convert-3-lru.toml")),
    }
    assert len(files) > 8
    for file in files:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
        assert not any(x.get("guarded-by") for x in document["section"]), file


def _source(folder: Path, number: str, name: str = "memcached") -> Path:
    folder.mkdir()
    text = f"#! /bin/sh\nPACKAGE_NAME='{name}'\nPACKAGE_VERSION='{number}'\n"
    (folder / "configure").write_text(text, encoding="utf-8")
    return folder


def test_a_source_of_ones_own_is_known_by_its_configure_script(tmp_path: Path) -> None:
    tree = _source(tmp_path / "a", "1.4.15")
    first = given(tree)
    assert (first.number, first.version.name) == ("1.4.15", "1.4")
    (tree / "thread.c").write_text("int x;\n", encoding="utf-8")
    assert given(tree).digest != first.digest
    (tree / "config.status").touch()
    with pytest.raises(UserError, match="has been configured there"):
        given(tree)
    for folder, message in (
        (_source(tmp_path / "b", "1.5.1"), "is version 1.5.1; 1.6, 1.4, 1.2 can be built"),
        (_source(tmp_path / "c", "1.4.15", "redis"), "is not memcached's"),
        (tmp_path, "has no configure script"),
    ):
        with pytest.raises(UserError, match=message):
            given(folder)


def test_conversions_are_those_of_the_sources_version(tmp_path: Path) -> None:
    old = given(_source(tmp_path / "old", "1.4.15"))
    oldest = given(_source(tmp_path / "oldest", "1.2.5"))

    def files(variant: str, source: Given | None) -> list[str]:
        built = Memcached(tmp_path, tmp_path, VARIANTS[variant], 1, source)
        return [str(x.relative_to(CONVERSIONS)) for x in built.conversion_files()]

    assert files("ip-lib", None) == ["convert-ip.toml"]
    assert files("it-callable", old) == ["1.4/convert-it.toml"]
    assert files("it-max", old) == ["1.4/convert-it.toml", "1.4/convert-counts.toml"]
    assert files("cachelock-statslock", None) == ["single-cache.toml", "single-stats.toml"]
    assert files("gcc", oldest) == []
    with pytest.raises(UserError, match=r"there is no convert-it.toml for memcached 1\.2"):
        Memcached(tmp_path, tmp_path, VARIANTS["it-max"], 1, oldest).build()


def test_the_record_of_a_checking_build_is_read() -> None:
    result = SuiteResult(files=1, passed=["t/a.t"], testapp_ok=1, checked=True)
    assert list(result.problems()) == ["no access of a section was checked"]
    miss = "a.c:1 (f): section 'f_1' reads 'x' byte 0, which its effects lack"
    lines = ["ran 3 f_1", f"miss {miss}", "needed 3 7 0 8 r", f"miss {miss}"]
    lines += [f"summary process {n} sections 4 ran 1 accesses {n} unknown 0" for n in (5, 6)]
    read_record(lines, result)
    assert (result.accesses, result.sections_ran, result.misses) == (11, {"f_1"}, [miss])
    assert list(result.problems()) == [miss]


@pytest.mark.parametrize(
    ("record", "passed", "said"),
    [
        ("ran memcached a\nsummary memcached 1 accesses 5\n", True, "accesses                  5"),
        (
            "miss a\nsummary memcached 1 accesses 5\nmiss a\nmiss b\n",
            False,
            "misses                    2",
        ),
        ("ran memcached a\n", False, "FAILED: no access of a section was checked"),
    ],
)
def test_what_a_replay_observed(
    record: str, passed: bool, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "observed"
    file.write_text(record, encoding="utf-8")
    assert print_observed(file) == passed
    assert said in capsys.readouterr().out


REFUSED = "tandem-cc: a.c:7: lock 'm' is a pthread-rwlock, which cannot become a section yet"
LINKER = "clang: error: linker command failed with exit code 2 (use -v to see invocation)"


@pytest.mark.parametrize(
    ("log", "why"),
    [
        (f"{REFUSED}\n{LINKER}\nmake: *** [memcached] Error 2\n", REFUSED[11:]),
        (f"tandem-cc: warning: a.toml:3: a thing\n{REFUSED}\n", REFUSED[11:]),
        ("make: *** [memcached] Error 2\n", ""),
        ("tandem-cc: note: stays a lock: a.c:7: lock 'm' is odd; keep it a lock\nError 2\n", ""),
        ("tandem-cc: internal error: 'm' in a.c:7; keep the file\n", ""),
        ("tandem-cc: c.toml:5: the program has no lock 'm'; `tandem analyze` prints its\n", ""),
        ("tandem-cc: catalogue.toml: cannot be read: no such file or directory\n", ""),
        (f"{REFUSED}\na.c:9:1: error: expected expression\n", ""),
        (f"{REFUSED}\nld.lld: error: undefined symbol: f\n", ""),
    ],
)
def test_only_a_refused_lock_is_a_refusal(log: str, why: str) -> None:
    assert refusal(log) == why


def test_commands_beside_one_that_failed_end(tmp_path: Path) -> None:
    """One is running, one is yet to begin; neither outlives the failure."""
    begun = threading.Event()
    failed = threading.Event()

    def job() -> None:
        with pytest.raises(CommandError, match="status"):
            must_run(
                ["sh", "-c", "echo begun; exec sleep 1000"],
                folder=tmp_path,
                environment=os.environ,
                log=tmp_path / "first.log",
                line=lambda _: begun.set(),
            )
        assert failed.is_set()
        with pytest.raises(CommandError, match="not run"):
            run(["true"], folder=tmp_path, environment=os.environ, log=tmp_path / "second.log")

    def interrupted() -> None:
        with side_by_side(1) as pool:
            jobs.append(pool.submit(job))
            begun.wait()
            failed.set()
            raise KeyboardInterrupt

    jobs: list[Future[None]] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    jobs[0].result()
    assert run(["true"], folder=tmp_path, environment=os.environ, log=tmp_path / "third.log") == 0

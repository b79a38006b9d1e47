# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that check themselves, under every algorithm of our libitm."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import (
    ALGORITHMS,
    BACKOFFS,
    BENCHMARKS,
    LIBRARY,
    MICRO,
    POLICIES,
    GnuTm,
)
from tandem.experiment.host import has_rtm

PROGRAMS = Path(__file__).parent / "gnu_tm"
MILLISECONDS = "60"
# First arguments under the emulator of hardware transactions, which takes a few hundred
# microseconds for one.
SHORT = {"exceptions.cc": "100", "frames.c": "150", "opaque.c": "150", "privatise.c": "60"}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    "source",
    [
        "nesting.c",
        "handlers.c",
        "succession.c",
        "types.c",
        "exceptions.cc",
        "frames.c",
        "opaque.c",
        "pointers.c",
        "privatise.c",
    ],
)
def test_program(gnu_tm: GnuTm, source: str, algorithm: str) -> None:
    program = gnu_tm.compile(source.partition(".")[0], [PROGRAMS / source])
    short = [SHORT[source]] if algorithm == "htm" and source in SHORT else []
    outcome = gnu_tm.run(program, *short, algorithm=algorithm)
    assert outcome.status == 0, outcome.output


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_vectors(gnu_tm: GnuTm, algorithm: str) -> None:
    """Of 32 bytes; of 16 where the processor has no others."""
    wide = "avx2" in Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    options = ["-O3", "-mavx2" if wide else "-msse2"]
    program = gnu_tm.compile("vectors", [PROGRAMS / "vectors.c"], options)
    outcome = gnu_tm.run(program, algorithm=algorithm)
    assert outcome.status == 0, outcome.output


@pytest.mark.parametrize("profiled", [False, True])
@pytest.mark.parametrize("algorithm", [name for name in ALGORITHMS if name != "htm" or has_rtm()])
def test_libraries_are_loaded_meanwhile(
    gnu_tm: GnuTm, tmp_path: Path, algorithm: str, profiled: bool
) -> None:
    options = ["-shared", "-fPIC", "-Wl,-z,lazy"]
    plugin = gnu_tm.compile("loading.so", [PROGRAMS / "loading_plugin.c"], options)
    program = gnu_tm.compile("loading", [PROGRAMS / "loading.c"], ["-ldl"])
    environment = {"TANDEM_PROFILE": str(tmp_path / "profile.json")} if profiled else {}
    outcome = gnu_tm.run(program, str(plugin), algorithm=algorithm, environment=environment)
    assert outcome.status == 0, outcome.output


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_program_at_a_fixed_address(gnu_tm: GnuTm, algorithm: str) -> None:
    options = ["-fno-pic", "-no-pie", "-Wl,-z,lazy"]
    program = gnu_tm.compile("fixed", [PROGRAMS / "fixed.c"], options)
    outcome = gnu_tm.run(program, algorithm=algorithm)
    assert outcome.status == 0, outcome.output


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_levels_of_nesting(gnu_tm: GnuTm, algorithm: str) -> None:
    """More than a processor counts; and inside regions of hardware that the program begins."""
    program = gnu_tm.compile("levels", [PROGRAMS / "levels.c"], ["-mrtm"])
    regions = "hardware" if algorithm == "htm" or has_rtm() else "none"
    outcome = gnu_tm.run(program, regions, algorithm=algorithm)
    assert outcome.status == 0, outcome.output


@pytest.mark.parametrize("benchmark", ["hash-20", "tree-10"])
def test_calls_are_looked_up_for_hardware(gnu_tm: GnuTm, tmp_path: Path, benchmark: str) -> None:
    """Of functions of libraries, which a lazily linked program has not called before."""
    sources = [MICRO / "micro.c", MICRO / "structures.c"]
    program = gnu_tm.compile("micro-lazy", sources, ["-DMICRO_GNU_TM", "-Wl,-z,lazy"])
    profile = tmp_path / "profile.json"
    environment = {"TANDEM_PROFILE": str(profile), "RTM_EMULATOR_ABORTS": "0"}
    outcome = gnu_tm.run(program, benchmark, "2", "300", algorithm="htm", environment=environment)
    assert outcome.status == 0, outcome.output
    for section in json.loads(profile.read_text())["sections"]:
        unexplained = sum(x["count"] for x in section["aborts"] if x["cause"] == "hardware-other")
        assert unexplained < max(100, section["commits"] / 20)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_process(gnu_tm: GnuTm, algorithm: str) -> None:
    """Threads, fork, dlopen, calls through pointers, relaxed transactions."""
    plugin = gnu_tm.compile("plugin.so", [PROGRAMS / "plugin.c"], ["-shared", "-fPIC"])
    program = gnu_tm.compile("process", [PROGRAMS / "process.c"], ["-ldl"])
    outcome = gnu_tm.run(program, str(plugin), algorithm=algorithm)
    assert outcome.status == 0, outcome.output


@pytest.mark.parametrize("algorithm", [name for name in ALGORITHMS if name != "htm"])
def test_memory_of_a_thread(gnu_tm: GnuTm, algorithm: str) -> None:
    """Of 1,000 threads that have had short transactions and live: at most 256 KiB each, mapped as
    well as touched. The processor's transactions have NOrec's logs."""
    program = gnu_tm.compile("memory", [PROGRAMS / "memory.c"])
    outcome = gnu_tm.run(program, "1000", algorithm=algorithm)
    assert outcome.status == 0, outcome.output
    words = outcome.output.split()
    assert (words[0], words[2]) == ("mapped", "touched")
    for bytes_of_one in (int(words[1]), int(words[3])):
        assert 1024 < bytes_of_one <= 256 * 1024, outcome.output


def micro(gnu_tm: GnuTm) -> Path:
    sources = [MICRO / "micro.c", MICRO / "structures.c"]
    return gnu_tm.compile("micro", sources, ["-DMICRO_GNU_TM"])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_no_operation_is_lost(gnu_tm: GnuTm, benchmark: str, algorithm: str) -> None:
    """More threads than processors: owners are preempted."""
    outcome = gnu_tm.run(micro(gnu_tm), benchmark, "6", MILLISECONDS, algorithm=algorithm)
    assert outcome.status == 0, outcome.output


def test_an_empty_section_is_a_transaction(gnu_tm: GnuTm, tmp_path: Path) -> None:
    """What bench/transactions calls empty; gcc deletes one that is written as a block."""
    profile = tmp_path / "profile.json"
    environment = {"TANDEM_PROFILE": str(profile)}
    outcome = gnu_tm.run(
        micro(gnu_tm), "empty", "0", "200", algorithm="norec", environment=environment
    )
    assert outcome.status == 0, outcome.output
    [section] = json.loads(profile.read_text())["sections"]
    assert section["commits"] == json.loads(outcome.output)["operations"] > 0


@pytest.mark.parametrize("backoff", BACKOFFS)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("algorithm", ["eager", "lazy", "two-phase"])
def test_every_policy_makes_progress(
    gnu_tm: GnuTm, algorithm: str, policy: str, backoff: str
) -> None:
    """Every transaction finally commits, or the program would not end: of many more threads than
    processors, which give the processor away in the middle."""
    program = gnu_tm.compile("progress", [PROGRAMS / "progress.c"])
    environment = {"TANDEM_POLICY": policy, "TANDEM_BACKOFF": backoff}
    outcome = gnu_tm.run(program, "16", "5", algorithm=algorithm, environment=environment)
    assert outcome.status == 0, outcome.output
    for benchmark in ("counter", "list-20"):
        outcome = gnu_tm.run(
            micro(gnu_tm), benchmark, "16", "20", algorithm=algorithm, environment=environment
        )
        assert outcome.status == 0, outcome.output


@pytest.mark.parametrize("backoff", BACKOFFS)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("algorithm", ["eager", "lazy", "two-phase"])
def test_progress_without_running_alone(
    gnu_tm: GnuTm, algorithm: str, policy: str, backoff: str
) -> None:
    """The delays of a row of restarts that nothing else ends grow with its time, so that they end
    every livelock, whatever policy and backoff were chosen."""
    program = gnu_tm.compile("progress", [PROGRAMS / "progress.c"])
    environment = {
        "TANDEM_POLICY": policy,
        "TANDEM_BACKOFF": backoff,
        "TANDEM_SERIALISE_AFTER": "never",
    }
    outcome = gnu_tm.run(program, "16", "5", algorithm=algorithm, environment=environment)
    assert outcome.status == 0, outcome.output


def test_preloaded(gnu_tm: GnuTm) -> None:
    """LD_PRELOAD instead of LD_LIBRARY_PATH."""
    program = gnu_tm.compile("handlers", [PROGRAMS / "handlers.c"])
    environment = {
        "LD_PRELOAD": str(LIBRARY / "libitm.so.1"),
        "TANDEM_ALGORITHM": "eager",
    }
    outcome = gnu_tm.run(program, environment=environment)
    assert outcome.status == 0, outcome.output


@pytest.mark.parametrize(
    ("variable", "valid"),
    [
        ("TANDEM_ALGORITHM", "auto, serial, eager, lazy, norec, two-phase, htm"),
        ("TANDEM_POLICY", ", ".join(POLICIES)),
        ("TANDEM_BACKOFF", ", ".join(BACKOFFS)),
        (
            "ITM_DEFAULT_METHOD",
            "serialirr, serialirr_onwrite, serial, gl_wt, ml_wt, htm",
        ),
        ("TANDEM_HOURGLASS", "off and 1 to 1000000"),
        ("TANDEM_SERIALISE_AFTER", "never and 1 to 1000000"),
        ("TANDEM_SERIAL_LOCK", "marks, readers-writer"),
        ("TANDEM_HARDWARE", "on, off"),
    ],
)
def test_unknown_names_stop_before_main(gnu_tm: GnuTm, variable: str, valid: str) -> None:
    environment = {"LD_LIBRARY_PATH": str(LIBRARY), variable: "quick"}
    outcome = gnu_tm.run(micro(gnu_tm), "counter", "1", "1", environment=environment)
    assert outcome.status == 2
    expected = f"libitm: error: {variable}=quick is not known; the valid values are {valid}\n"
    assert outcome.output == expected


def test_hardware_that_is_not_there_is_said_once(gnu_tm: GnuTm) -> None:
    off = {"TANDEM_HARDWARE": "off"}
    reasons = [(off, "TANDEM_HARDWARE=off uses none")]
    if not has_rtm():
        reasons.append(({}, "this processor has none"))
    for environment, reason in reasons:
        outcome = gnu_tm.run(
            micro(gnu_tm),
            "tree-50",
            "2",
            "20",
            algorithm="htm",
            environment=environment,
            emulates=False,
        )
        assert outcome.status == 0
        note = f"libitm: note: hardware transactions are asked for; {reason}, and runs as with auto"
        assert outcome.output.count(note) == 1


@pytest.mark.parametrize("hourglass", ["off", "1", "3"])
@pytest.mark.parametrize("serialise_after", ["1", "20", "never"])
@pytest.mark.parametrize("algorithm", ["eager", "lazy", "norec", "two-phase"])
def test_restarts_that_end_in_the_hourglass_or_alone(
    gnu_tm: GnuTm, algorithm: str, serialise_after: str, hourglass: str
) -> None:
    environment = {"TANDEM_HOURGLASS": hourglass, "TANDEM_SERIALISE_AFTER": serialise_after}
    outcome = gnu_tm.run(
        micro(gnu_tm), "tree-50", "4", "50", algorithm=algorithm, environment=environment
    )
    assert outcome.status == 0, outcome.output


def test_a_transaction_that_only_looks_again_runs_alone(gnu_tm: GnuTm) -> None:
    """Its 20,000 reads are looked at once for each commit of another: 53 times are 2^20."""
    program = gnu_tm.compile("revalidated", [PROGRAMS / "revalidated.c"])
    outcome = gnu_tm.run(program, algorithm="norec")
    assert (outcome.status, outcome.output) == (0, "2 begins, 53 commits\n")
    never = {"TANDEM_SERIALISE_AFTER": "never"}
    outcome = gnu_tm.run(program, algorithm="norec", environment=never)
    assert (outcome.status, outcome.output) == (0, "1 begins, 100 commits\n")


@pytest.mark.parametrize("method", ["serialirr", " serial ", "gl_wt", "ml_wt", "htm", ""])
def test_the_stock_librarys_methods_are_understood(gnu_tm: GnuTm, method: str) -> None:
    environment = {"LD_LIBRARY_PATH": str(LIBRARY), "ITM_DEFAULT_METHOD": method}
    outcome = gnu_tm.run(micro(gnu_tm), "tree-50", "2", "20", environment=environment)
    assert outcome.status == 0, outcome.output


MISUSE = {
    "commit": (
        "extern void _ITM_commitTransaction(void); int main(void) { _ITM_commitTransaction(); }",
        "a transaction is committed by a thread that is in none",
    ),
    "abort": (
        "extern void _ITM_abortTransaction(int); int main(void) { _ITM_abortTransaction(1); }",
        "_ITM_abortTransaction is called outside a transaction",
    ),
    "cancel": (
        "extern void _ITM_changeTransactionMode(int) __attribute__((transaction_pure)); int x = 1;"
        "int main(void) { __transaction_atomic { ++x; _ITM_changeTransactionMode(0);"
        "if (x) __transaction_cancel; } }",
        "a transaction is cancelled after it became irrevocable",
    ),
    "clone": (
        'int x; void f(void) { __asm__ volatile (""); ++x; }'
        "typedef void safe(void) __attribute__((transaction_safe));"
        'safe *g; int main(void) { g = (safe *)f; __asm__ volatile ("" ::: "memory");'
        "__transaction_atomic { ++x; g(); } }",
        "which has no transactional clone",
    ),
    "exit": (
        "#include <pthread.h>\nint x; __attribute__((transaction_pure)) void leave(void);"
        "void leave(void) { pthread_exit(0); } void *run(void *a) {"
        "__transaction_atomic { ++x; leave(); } return a; }"
        "int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); pthread_join(t, 0); }",
        "a thread exits inside a transaction",
    ),
}


# Alone and in hardware gcc's uninstrumented code runs, and calls a function without a clone by
# itself.
CASES = [
    (name, algorithm)
    for name in MISUSE
    for algorithm in ALGORITHMS
    if name != "clone" or algorithm not in ("auto", "serial", "htm")
]


@pytest.mark.parametrize(("name", "algorithm"), CASES)
def test_misuse_ends_the_process(gnu_tm: GnuTm, name: str, algorithm: str) -> None:
    text, message = MISUSE[name]
    source = gnu_tm.folder / f"misuse-{name}.c"
    source.write_text(text + "\n", encoding="utf-8")
    outcome = gnu_tm.run(gnu_tm.compile(f"misuse-{name}", [source]), algorithm=algorithm)
    assert outcome.status == -6, outcome.output
    assert outcome.output.startswith("libitm: error: ")
    assert message in outcome.output
    assert outcome.output.count("\n") == 1

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""memcached's own test suite: `prove` over its t/, and its testapp, read from what they print."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tandem.errors import CommandError
from tandem.workload.loopback import alone
from tandem.workload.steps import Meter, run

__all__ = [
    "EXPECTED_SKIPS",
    "SuiteResult",
    "print_observed",
    "read_prove",
    "read_record",
    "run_suite",
    "suite_environment",
]

# Files that skip themselves in Debian's default configuration, and what each would need.
EXPECTED_SKIPS = {
    "t/issue_140.t": "always skips: the bug never was one",
    "t/issue_260.t": "always skips: needs artificial conditions",
    "t/misbehave.t": "needs a build with privilege dropping",
    "t/proxy.t": "needs --enable-proxy",
    "t/refhang.t": "always skips: flaky",
    "t/slabhang.t": "always skips: flaky",
    "t/ssl_cert_refresh.t": "needs --enable-tls",
    "t/ssl_ports.t": "needs --enable-tls",
    "t/ssl_proto_version.t": "needs --enable-tls",
    "t/ssl_session_resumption.t": "needs --enable-tls",
    "t/ssl_settings.t": "needs --enable-tls",
    "t/ssl_verify_modes.t": "needs --enable-tls",
    "t/whitespace.t": "needs memcached's git history",
}
SUITE_SECONDS = 1800.0  # 430 s serially on the slowest machine seen

_FILE = re.compile(r"^(t/\S+\.t) \.+ ?(.*)$")
_TOTALS = re.compile(r"^Files=(\d+), Tests=(\d+),")
_ACCESSES = re.compile(r"^summary .* accesses (\d+)")
_TESTAPP = re.compile(r"^(not )?ok \d+")


@dataclass
class SuiteResult:
    passed: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)  # file → its own reason
    failed: dict[str, str] = field(default_factory=dict)  # file → what prove says
    files: int = 0  # as prove counts them, at its end
    tests: int = 0
    status: int = 0  # prove's
    testapp_ok: int = 0
    testapp_not_ok: int = 0
    testapp_status: int = 0
    seconds: float = 0
    partial: bool = False  # some of the files only, and no testapp
    # Of programs that check their analysis (docs/check-effects.md).
    checked: bool = False
    misses: list[str] = field(default_factory=list)  # each once
    accesses: int = 0  # in sections, of all processes that ended by themselves
    sections_ran: set[str] = field(default_factory=set)

    def problems(self) -> Iterator[str]:
        """Why the suite has not passed; nothing if it has."""
        for file, verdict in sorted(self.failed.items()):
            yield f"{file}: {verdict or 'no verdict'}"
        counted = len(self.passed) + len(self.skipped) + len(self.failed)
        if self.files == 0 or counted != self.files:
            yield f"prove counted {self.files} files, and reported on {counted}"
        if self.status != 0 and not self.failed:
            yield f"prove ended with status {self.status}"
        for file in sorted(set(self.skipped) - set(EXPECTED_SKIPS)):
            yield f"{file}: skipped, which was not expected: {self.skipped[file]}"
        yield from self.misses
        if self.checked and self.accesses == 0:
            yield "no access of a section was checked"
        if self.partial:
            return
        if self.testapp_status != 0 or self.testapp_not_ok or not self.testapp_ok:
            yield (
                f"testapp: {self.testapp_ok} ok, {self.testapp_not_ok} not ok, "
                f"status {self.testapp_status}"
            )

    def differences(self) -> Iterator[str]:
        """What ran although it was expected to skip: better than expected."""
        if self.partial:
            return
        for file in sorted(set(EXPECTED_SKIPS) - set(self.skipped)):
            yield f"{file}: was expected to skip and did not ({EXPECTED_SKIPS[file]})"


def read_prove(lines: Sequence[str], result: SuiteResult) -> None:
    """Adds what prove printed, one verdict a line, as it does where it is not on a terminal."""
    for line in lines:
        if (totals := _TOTALS.match(line)) is not None:
            result.files, result.tests = int(totals[1]), int(totals[2])
        elif (verdict := _FILE.match(line)) is not None:
            file, said = verdict[1], verdict[2].strip()
            if said == "ok":
                result.passed.append(file)
            elif said.startswith("skipped"):
                result.skipped[file] = said.partition(":")[2].strip() or "no reason given"
            else:
                result.failed.setdefault(file, said)


def suite_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Without what would change the suite's course."""
    changing = ("T_MEMD_", "TANDEM_", "HARNESS_", "PERL", "SSL_TEST", "MEMCACHED", "VALGRIND")
    own = {k: v for k, v in environment.items() if not k.startswith((*changing, "MAKE"))}
    return own | {"LC_ALL": "C.UTF-8", "PYTHONPATH": str(Path(__file__).parents[2])}


def read_record(lines: Sequence[str], result: SuiteResult) -> None:
    """Adds what the checking programs wrote into TANDEM_OBSERVE, one after the other."""
    for line in lines:
        what, _, text = line.partition(" ")
        if what == "miss" and text not in result.misses:
            result.misses.append(text)
        elif what == "ran":
            result.sections_ran.add(text.partition(" ")[2])
        elif (count := _ACCESSES.search(line)) is not None:
            result.accesses += int(count[1])


def print_observed(record: Path) -> bool:
    """What programs that check their analysis saw; whether nothing contradicts it."""
    result = SuiteResult(checked=True)
    if record.exists():
        read_record(record.read_text(encoding="utf-8", errors="replace").splitlines(), result)
    print(f"\n  sections ran   {len(result.sections_ran):>12,}")
    print(f"  accesses       {result.accesses:>12,}   in sections")
    print(f"  misses         {len(result.misses):>12,}")
    problems = result.misses if result.accesses else ["no access of a section was checked"]
    for text in problems:
        print(f"FAILED: {text}")
    return not problems


def _test_files(tree: Path, only: Sequence[str]) -> list[str]:
    """Those in t/, or the named ones of them. CommandError where one is not there."""
    files = sorted(str(x.relative_to(tree)) for x in tree.glob("t/*.t"))
    if not files:
        raise CommandError(f"{tree}/t: has no test files")
    for name in only:
        if name not in files:
            raise CommandError(f"--test: {name}: is no test file of memcached's; one is {files[0]}")
    return sorted(set(only)) or files


def run_suite(
    tree: Path,
    logs: Path,
    jobs: int,
    *,
    checked: bool = False,
    only: Sequence[str] = (),
) -> SuiteResult:
    """Runs the suite, or some of its files, in a built tree. CommandError if prove or testapp
    cannot be run at all.
    """
    environment = suite_environment(os.environ)
    record = logs / "observed"
    record.unlink(missing_ok=True)
    if checked:
        environment["TANDEM_OBSERVE"] = str(record)
    tests = _test_files(tree, only)
    result = SuiteResult(checked=checked, partial=bool(only))
    lines: list[str] = []
    meter = Meter(f"running {len(tests)} test files, {jobs} at a time", len(tests))

    def line(text: str) -> None:
        lines.append(text)
        if _FILE.match(text):
            meter.advance()

    command = ["prove", f"-j{jobs}", "-I", "t/lib", *(tests if only else ["t/"])]
    log = logs / "prove.log"
    result.status = run(
        alone(command),
        folder=tree,
        environment=environment,
        log=log,
        line=line,
        timeout_s=SUITE_SECONDS,
    )
    meter.end()
    read_prove(lines, result)
    if not only:
        _run_testapp(tree, logs, environment, result)
    if checked and record.exists():
        read_record(record.read_text(encoding="utf-8", errors="replace").splitlines(), result)
    result.seconds = meter.end()
    return result


def _run_testapp(
    tree: Path, logs: Path, environment: Mapping[str, str], result: SuiteResult
) -> None:
    verdicts: list[bool] = []

    def line(text: str) -> None:
        if (verdict := _TESTAPP.match(text)) is not None:
            verdicts.append(verdict[1] is None)

    result.testapp_status = run(
        alone(["./testapp"]),
        folder=tree,
        environment=environment,
        log=logs / "testapp.log",
        line=line,
        timeout_s=SUITE_SECONDS,
    )
    result.testapp_ok = sum(verdicts)
    result.testapp_not_ok = len(verdicts) - result.testapp_ok

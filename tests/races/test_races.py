# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many races of small programs are found, and how many race-free ones are flagged.

`python tests/races/test_races.py` prints the kinds that are wrong and the shares; TANDEM_BUILD is
the build.
"""

import json
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from cases import Case, cases

# Rules about races: what the tables print by default, and with --all.
PRINTED = {"different-locks", "unguarded-access", "unprotected-access"}
ALL = PRINTED | {"possible-race"}
# What is wrong today, as docs/limits.md has it: a kind that joins or leaves these lists is news.
MISSED = {
    "bucket-and-its-lock",
    "call-once-makes-one",
    "item-of-a-queue",
    "locks-by-equal-expressions",
    "published-by-an-atomic",
    "queue-with-a-condition",
    "slot-kept-in-a-request",
}
FLAGGED = {
    "async-and-get",
    "barrier-and-a-serial-thread",
    "conditional-lock",
    "each-its-part-of-a-struct",
    "flag-that-is-spun-on",
    "found-and-locked",
    "halves-of-an-array",
    "hand-made-spin-lock",
    "handle-in-a-struct",
    "lock-of-the-argument",
    "packaged-task",
    "part-of-a-vector",
    "promise-and-future",
    "semaphore-hands-over",
    "start-through-a-trampoline",
    "state-of-several-owners",
    "std-latch",
    "task-of-the-caller",
    "threads-in-a-list",
    "two-asyncs",
    "waits-for-a-flag",
}
# Of these, by default. The aims are 95 % found, 10 % flagged with --all and 3 % by default.
FLAGGED_BY_DEFAULT: set[str] = set()


@dataclass(frozen=True)
class Verdict:
    case: Case
    rules: frozenset[str]

    def flagged(self, rules: set[str]) -> bool:
        return bool(self.rules & rules)


def verdict_of(case: Case, folder: Path) -> Verdict:
    name = f"{case.name}-{'racy' if case.racy else 'free'}"
    source = folder / f"{name}.{case.suffix}"
    source.write_text(case.source)
    report = folder / f"{name}.json"
    arguments = ["--", "-std=c++20"] if case.suffix == "cc" else []
    tandem = Path(os.environ["TANDEM_BUILD"]) / "bin/tandem"
    done = subprocess.run(
        [tandem, "analyze", "--quiet", "--json", report, source, *arguments],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{name}: {done.stderr}"
    findings = json.loads(report.read_text())["findings"]
    return Verdict(case, frozenset(f["rule"] for f in findings) & ALL)


def wrong(found: list[Verdict]) -> tuple[set[str], set[str], set[str]]:
    """The kinds missed, flagged with --all, and flagged by default."""
    free = [v for v in found if not v.case.racy]
    return (
        {v.case.name for v in found if v.case.racy and not v.flagged(ALL)},
        {v.case.name for v in free if v.flagged(ALL)},
        {v.case.name for v in free if v.flagged(PRINTED)},
    )


def verdicts(folder: Path) -> list[Verdict]:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda case: verdict_of(case, folder), cases()))


def summary(found: list[Verdict]) -> str:
    missed, flagged, printed = wrong(found)
    racy = sum(v.case.racy for v in found)
    free = len(found) - racy
    return "\n".join(
        [
            *(f"missed: {name}" for name in sorted(missed)),
            *(f"flagged: {name}" for name in sorted(flagged)),
            f"{racy} racy programs, {1 - len(missed) / racy:.1%} found; {free} others,"
            f" {len(flagged) / free:.1%} flagged with --all, {len(printed) / free:.1%} by default",
        ]
    )


def test_verdicts(tmp_path: Path) -> None:
    """What is wrong is what is known to be wrong."""
    found = verdicts(tmp_path)
    print(summary(found))
    missed, flagged, printed = wrong(found)
    assert missed == MISSED
    assert flagged == FLAGGED
    assert printed == FLAGGED_BY_DEFAULT


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        print(summary(verdicts(Path(place))))

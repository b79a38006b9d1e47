# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""memcached's lock sites, counted without Tandem: from its preprocessed sources, token by token.

A *call* is a name of a locking function inside a function's body. A *region entry* is where a
thread begins to hold a lock in the source's own terms: a call of pthread's function, or of a
function that is nothing but such a call (a wrapper), in which case the call inside the wrapper is
no entry of its own.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tandem.errors import CommandError

__all__ = ["Call", "Comparison", "Site", "calls_in", "compare", "count_calls"]

PTHREAD = {
    "pthread_mutex_lock": "mutex",
    "pthread_mutex_trylock": "trylock",
    "pthread_cond_wait": "wait",
    "pthread_cond_timedwait": "wait",
}
# memcached's own functions whose whole effect on locks is one call of the table above. Each of the
# six after the gap has one caller.
WRAPPERS = {
    "item_lock": "mutex",
    "STATS_LOCK": "mutex",
    "item_trylock": "trylock",
    #
    "slabs_mlock": "mutex",
    "slabs_rebalancer_pause": "mutex",
    "lru_crawler_pause": "mutex",
    "lru_maintainer_pause": "mutex",
    "storage_compact_pause": "mutex",
    "storage_write_pause": "mutex",
}
KINDS = ("mutex", "trylock", "wait")
LOCKING = PTHREAD | WRAPPERS

_TOKEN = re.compile(
    r'^\#\ (?P<line>\d+)\ "(?P<file>[^"]*)".*$'
    r"|(?P<text>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<newline>\n)"
    r"|(?P<mark>[(){}])"
    r"|(?P<other>\S)",
    re.MULTILINE | re.VERBOSE,
)


@dataclass(frozen=True, order=True)
class Site:
    """A place where a region begins; `kind` as in the report: mutex, trylock or wait."""

    file: str
    line: int
    kind: str


@dataclass(frozen=True)
class Call:
    """A call of `callee`, one of LOCKING, in the body of `function`."""

    file: str
    line: int
    function: str
    callee: str


def calls_in(text: str) -> Iterator[Call]:
    """The calls of locking functions in one preprocessed file, headers included."""
    file, line = "", 0
    braces = parentheses = 0
    function = name = ""
    for token in _TOKEN.finditer(text):
        if token["file"] is not None:
            file, line = token["file"].removeprefix("./"), int(token["line"]) - 1
        elif token["newline"]:
            line += 1
        elif token["name"]:
            name = token["name"]
        elif token["mark"] == "(":
            if braces == 0 and parentheses == 0 and not name.startswith("__"):
                function = name
            elif braces > 0 and name in LOCKING:
                yield Call(file, line, function, name)
            parentheses += 1
        elif token["mark"] == ")":
            parentheses -= 1
        elif token["mark"] in ("{", "}"):
            braces += 1 if token["mark"] == "{" else -1
        if not token["name"] and not token["newline"]:
            name = ""


def count_calls(tree: Path, clang: str, sources: Sequence[str]) -> list[Call]:
    """The calls in memcached's `sources`, preprocessed as its makefile does for `memcached`; a call
    in a header counts once. CommandError if a file does not preprocess.
    """

    def calls_of(source: str) -> list[Call]:
        command = [clang, "-E", "-DHAVE_CONFIG_H", "-DNDEBUG", "-I.", source]
        done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise CommandError(f"{source}: does not preprocess: {done.stderr.strip()[:200]}")
        return list(calls_in(done.stdout))

    with ThreadPoolExecutor() as pool:
        each = list(pool.map(calls_of, sources))
    found = [call for calls in each for call in calls]
    headers = {call for call in found if call.file not in sources}
    return [call for call in found if call.file in sources] + sorted(
        headers, key=lambda call: (call.file, call.line)
    )


def entries_of(calls: Sequence[Call]) -> Counter[Site]:
    """Where regions begin, by the definition above."""
    return Counter(
        Site(call.file, call.line, LOCKING[call.callee])
        for call in calls
        if call.function not in WRAPPERS
    )


@dataclass(frozen=True)
class Comparison:
    """The compiler's region entries beside the independent count."""

    found: Counter[Site]
    counted: Counter[Site]
    calls: Sequence[Call]

    @property
    def equal(self) -> bool:
        return self.found == self.counted

    def lines(self) -> Iterator[str]:
        """One line where the counts are equal; else also each entry that only one side has."""
        calls = Counter(LOCKING[call.callee] for call in self.calls)
        inside = Counter(LOCKING[call.callee] for call in self.calls if call.function in WRAPPERS)
        entries = Counter[str]()
        for site, count in self.counted.items():
            entries[site.kind] += count
        by_kind = " + ".join(str(entries[kind]) for kind in KINDS)
        yield (
            f"check: {sum(self.found.values())} region entries found; {by_kind} = "
            f"{sum(self.counted.values())} counted in the preprocessed sources, "
            f"{'on' if self.equal else 'NOT on'} the same lines "
            f"({' + '.join(str(calls[kind]) for kind in KINDS)} calls, of which "
            f"{inside['mutex']} + {inside['trylock']} inside wrappers, whose callers count)"
        )
        for site, count in sorted((self.found - self.counted).items()):
            yield f"  only the compiler: {site.file}:{site.line}: {site.kind} ({count})"
        for site, count in sorted((self.counted - self.found).items()):
            yield f"  only the sources:  {site.file}:{site.line}: {site.kind} ({count})"


def compare(found: Counter[Site], calls: Sequence[Call]) -> Comparison:
    return Comparison(found, entries_of(calls), calls)

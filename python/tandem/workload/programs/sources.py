# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The places in preprocessed sources where a lock is acquired, counted without Tandem."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

__all__ = ["acquisitions_below", "acquisitions_in"]

# Where a thread begins to hold a lock, or to wait with one; the names of calls.
ACQUISITIONS = (
    *("pthread_mutex_lock", "pthread_mutex_trylock", "pthread_mutex_timedlock"),
    *("pthread_rwlock_rdlock", "pthread_rwlock_wrlock", "pthread_rwlock_tryrdlock"),
    *("pthread_rwlock_trywrlock", "pthread_spin_lock", "pthread_spin_trylock"),
    *("pthread_cond_wait", "pthread_cond_timedwait"),
)
# Classes whose objects hold a lock while they live.
GUARDS = ("lock_guard", "scoped_lock", "shared_lock", "unique_lock")
_MARKER = re.compile(r'^# (\d+) "([^"]*)"((?: \d)*)$')
_SYSTEM = "3"  # the flag of a marker of a system's header
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')


def acquisitions_in(preprocessed: str, wrappers: Sequence[str]) -> set[tuple[str, int, int]]:
    """Calls that acquire, as file, line and column, of a preprocessed source; of wrappers too,
    whose own calls of what they wrap do not count. Bodies of macros count where they are used.
    A wrapper may be a class: objects of it count, as those of the standard's guards.
    """
    names = "|".join(re.escape(x) for x in (*ACQUISITIONS, *wrappers))
    guards = "|".join(re.escape(x) for x in (*GUARDS, *wrappers))
    call = re.compile(rf"(?P<before>\w+\s+\**)?\b(?P<name>{names})\s*\(")
    guard = re.compile(rf"\b(?P<name>{guards})(?:<[^;(){{}}]*>)?\s+\w+\s*[({{]")
    begin = re.compile(rf"^(?:[\w*]+\s+)+\**(?P<name>{'|'.join(map(re.escape, wrappers))})\s*\(")
    found: set[tuple[str, int, int]] = set()
    file, line, ours = "", 0, False
    depth = 0
    inside = False  # of a wrapper
    for text in preprocessed.splitlines():
        if marker := _MARKER.match(text):
            file, line = marker[2], int(marker[1])
            ours = _SYSTEM not in marker[3].split() and not file.startswith("<")
            continue
        if ours:
            code = _TEXT.sub('""', text)
            if wrappers and depth == 0 and begin.match(code):
                inside = True
            for match in call.finditer(code):
                declares = match["before"] and match["before"].split()[0] not in (
                    *("return", "else", "do"),
                )
                if not declares and not inside and depth > 0:
                    found.add((file, line, match.start("name")))
            if depth > 0 and not inside:
                found |= {(file, line, match.start("name")) for match in guard.finditer(code)}
            depth += code.count("{") - code.count("}")
            if depth == 0 and (";" in code or "}" in code):
                inside = False
        line += 1
    return found


def acquisitions_below(folder: Path, wrappers: Sequence[str]) -> int:
    """How many the preprocessed sources below a folder have, each place once."""
    sites: set[tuple[str, int, int]] = set()
    for path in sorted(folder.rglob("*.i*")):
        if path.suffix in (".i", ".ii") and path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            sites |= acquisitions_in(text, wrappers)
    return len(sites)

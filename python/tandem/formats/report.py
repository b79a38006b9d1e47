# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiler's report (docs/formats/report.md): what sections share, and what was decided."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tandem.formats.documents import check, parse_json, read_text
from tandem.formats.structures import build

__all__ = [
    "REPORT_VERSION",
    "Access",
    "Analysis",
    "Colour",
    "Conflict",
    "Enforcement",
    "Finding",
    "Instrumentation",
    "Irrevocable",
    "Location",
    "Lock",
    "LockSite",
    "Note",
    "Region",
    "Report",
    "ReportSection",
    "Thread",
    "read_report",
]

REPORT_VERSION = 1


@dataclass(frozen=True, slots=True)
class Lock:
    """A colour that a section takes."""

    colour: str
    mode: str  # exclusive, shared


@dataclass(frozen=True, slots=True)
class Irrevocable:
    """An irrevocable call, with the functions from the section to it, both included."""

    callee: str
    chain: tuple[str, ...]
    places: tuple[str, ...] = ()  # where each of the chain calls the next, "file:line"
    cold: bool = False  # reached only on an unlikely path


@dataclass(frozen=True, slots=True)
class Conflict:
    """Another section, or the same one, and the locations on which they conflict."""

    with_: str = field(metadata={"json": "with"})
    on: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Access:
    """A place where a section, or what it calls, touches a location."""

    location: str
    writes: bool  # else it reads
    function: str
    file: str
    line: int  # 0: unknown


@dataclass(frozen=True, slots=True)
class Region:
    """The lock of a lock region."""

    names: tuple[str, ...]
    kind: str  # mutex, trylock, wait
    exits: int  # release sites
    shape: str  # same-function, escapes, not-nested, flag-guarded
    primitive: str = "pthread-mutex"
    shared: bool = False  # held as a reader


@dataclass(frozen=True, slots=True)
class ReportSection:
    """An atomic section."""

    name: str
    kind: str  # function, block, lambda, lock-region
    file: str
    line: int  # 0: unknown
    class_: str = field(metadata={"json": "class"})  # non-revocable, hybrid, pure
    irrevocable_at: str  # never, begin, reach
    colours: tuple[str, ...]
    locks: tuple[Lock, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    irrevocable: tuple[Irrevocable, ...]
    conflicts: tuple[Conflict, ...]
    accesses: tuple[Access, ...] = ()
    strict: bool = False
    lock: Region | None = None  # only of lock regions


@dataclass(frozen=True, slots=True)
class Colour:
    """A colour and the locations that it guards."""

    name: str
    locations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Location:
    """A class of memory that the analysis does not tell apart."""

    name: str
    kind: str  # global, heap, stack, external
    file: str
    line: int  # 0: unknown
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Thread:
    """A way into the program that may run beside others."""

    function: str
    kind: str  # main, thread, signal-handler, exported, callback
    many: bool  # several at the same time


@dataclass(frozen=True, slots=True)
class LockSite:
    """A call that acquires, tries, waits for or releases a lock."""

    operation: str  # lock, trylock, wait, unlock, signal
    primitive: str
    lock: str
    file: str
    line: int
    function: str
    sections: tuple[str, ...]  # that it begins or ends
    reason: str = ""  # why there is none


@dataclass(frozen=True, slots=True)
class Note:
    """A further place of a finding."""

    file: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a person should look at."""

    rule: str
    file: str
    line: int
    message: str
    notes: tuple[Note, ...] = ()
    function: str = ""  # what it is about
    section: str = ""


@dataclass(frozen=True, slots=True)
class Enforcement:
    """The mode asked for and the one in the output."""

    requested: str
    used: str


@dataclass(frozen=True, slots=True)
class Instrumentation:
    """Accesses in the transactional versions of functions."""

    clones: int
    barriers: int
    plain: int
    captured: int
    unwritten: int
    merged: int
    counters: int
    irrevocable: int
    deferred_updates: int
    atomics: int
    short_sections: int = 0


@dataclass(frozen=True, slots=True)
class Analysis:
    """How the analysis went; `seconds` is wall time, `instructions` are those of the IR."""

    mode: str  # insensitive, sensitive
    seconds: float
    peak_mib: float
    instructions: int
    limits: tuple[str, ...] = ()  # inclusion, contexts, callers


@dataclass(frozen=True, slots=True)
class Report:
    """One linked output, or the sources of `tandem analyze`."""

    sections: tuple[ReportSection, ...]
    colours: tuple[Colour, ...]
    shared: tuple[str, ...]
    externals: tuple[str, ...]
    findings: tuple[Finding, ...]
    analysis: Analysis
    output: str = ""
    enforcement: Enforcement | None = None
    locations: tuple[Location, ...] = ()
    threads: tuple[Thread, ...] = ()
    lock_sites: tuple[LockSite, ...] = ()
    instrumentation: Instrumentation | None = None


def read_report(path: Path) -> Report:
    """Reads and checks a report; FormatError with the place where it is another thing."""
    document = parse_json(read_text(path), str(path))
    check(document, "report", str(path), version=REPORT_VERSION)
    return build(Report, document)

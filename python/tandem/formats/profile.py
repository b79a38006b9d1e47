# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The profile of one run of a program (docs/formats/profile.md)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tandem.formats.documents import check, parse_json, read_text
from tandem.formats.structures import build

__all__ = [
    "PROFILE_VERSION",
    "Abort",
    "Frame",
    "Histogram",
    "Location",
    "Policy",
    "Profile",
    "ProfileRun",
    "ProfileSection",
    "Serialisation",
    "Times",
    "read_profile",
]

PROFILE_VERSION = 1


@dataclass(frozen=True, slots=True)
class Policy:
    """Contention management; `serialise_after` in aborts, 0: never."""

    contention: str
    backoff: str
    serialise_after: int


@dataclass(frozen=True, slots=True)
class ProfileRun:
    """What ran, and how sections were carried out."""

    program: str
    command: tuple[str, ...]
    pid: int
    algorithm: str
    policy: Policy
    threads: int
    start: str  # UTC, RFC 3339
    wall_seconds: float


@dataclass(frozen=True, slots=True)
class Location:
    """Memory that an attempt failed on; `offset` in bytes."""

    kind: str
    symbol: str = ""
    offset: int = 0
    function: str = ""
    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Abort:
    """Attempts that were undone for one reason."""

    cause: str
    count: int
    location: Location | None = None
    other: str | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """A call on a stack."""

    function: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Serialisation:
    """Attempts that ran serially or irrevocably; `stack` innermost first."""

    cause: str
    count: int
    stack: tuple[Frame, ...] = ()


@dataclass(frozen=True, slots=True)
class Histogram:
    """counts[0]: how often 0; counts[k]: how often 2^(k-1) to 2^k - 1."""

    counts: tuple[int, ...]
    sum: int
    max: int


@dataclass(frozen=True, slots=True)
class Times:
    """Nanoseconds, summed over executions and threads."""

    section_ns: int
    waiting_ns: int
    irrevocable_ns: int


@dataclass(frozen=True, slots=True)
class ProfileSection:
    """An atomic section in this run."""

    name: str
    output: str
    file: str
    line: int
    kind: str
    colours: tuple[str, ...]
    starts: int
    commits: int
    unfinished: int
    aborts: tuple[Abort, ...]
    serialisations: tuple[Serialisation, ...]
    read_set: Histogram
    write_set: Histogram
    retries: Histogram
    time: Times
    class_: str | None = field(default=None, metadata={"json": "class"})


@dataclass(frozen=True, slots=True)
class Profile:
    """A whole profile."""

    run: ProfileRun
    sections: tuple[ProfileSection, ...]


def read_profile(path: Path) -> Profile:
    """Reads and checks a profile; FormatError with the place where it is another thing."""
    document = parse_json(read_text(path), str(path))
    check(document, "profile", str(path), version=PROFILE_VERSION)
    return build(Profile, document)

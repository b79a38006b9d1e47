# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Versions of memcached that can be built: Debian's, and older ones from a folder of the user's."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from tandem.errors import UserError
from tandem.files import reason

__all__ = ["DEBIAN", "VERSIONS", "Given", "Version", "given"]

_MOST_BYTES = 100_000_000  # of a source tree: memcached's has two million


@dataclass(frozen=True)
class Version:
    """What differs between lines of versions."""

    name: str  # the first two numbers
    conversions: str = ""  # folder below workloads/memcached; empty: that itself
    configure: tuple[str, ...] = ()
    # CFLAGS of make, which replace configure's: old ones end in -Werror, and rely on common symbols
    flags: str = ""
    # Since stage max, reference counts are no atomic operations: what config.h must not define, and
    # the conversion of the lock that guards them then. Empty where there are no such counts.
    counts: str = ""
    counts_conversion: str = ""


DEBIAN = Version("1.6")
_OLD = "-g -O2 -pthread -fcommon -fno-strict-aliasing"
VERSIONS = {
    x.name: x
    for x in (
        DEBIAN,
        Version(
            "1.4",
            "1.4",
            flags=_OLD,
            counts="HAVE_GCC_ATOMICS",
            counts_conversion="convert-counts.toml",
        ),
        Version("1.2", "1.2", ("--enable-threads",), flags=f"{_OLD} -DIOV_MAX=1024"),
    )
}


@dataclass(frozen=True)
class Given:
    """A source tree of the user's; never built in, never changed."""

    folder: Path
    number: str  # 1.4.15
    version: Version
    digest: str  # of all files


def given(folder: Path) -> Given:
    """Looks at a tree. UserError where it is none of memcached's that can be configured."""
    configure = folder / "configure"
    if not configure.is_file():
        raise UserError(
            f"--source {folder}: has no configure script; give an unpacked release, or run"
            " ./autogen.sh there"
        )
    text = _text(configure)
    name = re.search(r"^PACKAGE_(?:TAR)?NAME='?(\S+?)'?$", text, re.MULTILINE)
    number = re.search(r"^PACKAGE_VERSION='?([0-9]+\.[0-9]+[0-9A-Za-z.~+_-]*)'?$", text, re.M)
    if name is None or name[1] != "memcached" or number is None:
        raise UserError(f"--source {folder}: its configure script is not memcached's")
    if (folder / "config.status").exists():
        raise UserError(
            f"--source {folder}: has been configured there; give a tree that has not, or run make"
            " distclean there"
        )
    line = ".".join(number[1].split(".")[:2])
    if line not in VERSIONS:
        able = ", ".join(VERSIONS)
        raise UserError(f"--source {folder}: is version {number[1]}; {able} can be built")
    return Given(folder, number[1], VERSIONS[line], _digest(folder))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {reason(error)}") from error


def _digest(folder: Path) -> str:
    digest = hashlib.sha256()
    size = 0
    for path in sorted(folder.rglob("*")):
        if ".git" in path.relative_to(folder).parts or not path.is_file():
            continue
        try:
            data = path.read_bytes()
        except OSError as error:
            raise UserError(f"{path}: cannot be read: {reason(error)}") from error
        size += len(data)
        if size > _MOST_BYTES:
            raise UserError(f"--source {folder}: is larger than any memcached")
        digest.update(f"{path.relative_to(folder)}\0{len(data)}\0".encode())
        digest.update(data)
    return digest.hexdigest()

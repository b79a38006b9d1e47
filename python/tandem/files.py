# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that are read and written as a whole, and text as it may go to a terminal.

The same rules as src/base has for the programs in C++: what is written appears or is replaced at
the end, or all is as it was; a link that another user has put into a folder where everybody may
(sticky, and writable by others) is not followed; an output is not one of the inputs.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tandem.errors import FormatError, UserError

__all__ = [
    "MOST_BYTES",
    "check_outputs",
    "check_target",
    "open_to_append",
    "printable",
    "read_text",
    "reason",
    "write_bytes",
    "write_text",
]

MOST_BYTES = 64 << 20  # of a file that is read; results have some thousands
_MOST_LINKS = 40  # as Linux
_FOREIGN = "a link of another user, in a folder where everybody may put one, leads elsewhere"

# What changes the direction of text, and separators of lines and paragraphs.
_MISLEADING = frozenset({0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)})
_SHORT = {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r"}


def _shown(character: str) -> str:
    code = ord(character)
    if code in _SHORT:
        return _SHORT[code]
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8, as Python keeps those of names
        return f"\\x{code - 0xDC00:02x}"
    if 0x80 <= code < 0xA0 or code in _MISLEADING or 0xD800 <= code <= 0xDFFF:
        return f"\\u{code:04x}"
    return character


def printable(text: str) -> str:
    """`text` with control characters and what changes its direction written out: \\n, \\x1b."""
    return "".join(map(_shown, text))


def reason(error: OSError) -> str:
    """Why, in lower case."""
    return (error.strerror or str(error)).lower()


def read_text(path: Path, most: int = MOST_BYTES) -> str:
    """The file's text; UserError where it cannot be read, is too large, or is not UTF-8."""
    try:
        with open(path, "rb") as stream:
            data = stream.read(most + 1)
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise UserError(f"{path}: cannot be read: {why}") from error
    if len(data) > most:
        raise FormatError(f"{path}: has more than {most} bytes, the most that is read here")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: not UTF-8 text (byte {error.start})") from error


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a path leads: its folder, open, and the name in it, which is no link."""

    folder: int
    name: str


def _is_foreign(folder: os.stat_result, entry: os.stat_result) -> bool:
    everybodys = folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH
    return bool(everybodys) and entry.st_uid not in (os.geteuid(), folder.st_uid)


def _in_proc(folder: int) -> bool:
    return os.fstat(folder).st_dev == os.stat("/proc").st_dev if os.path.isdir("/proc") else False


@contextlib.contextmanager
def _place(path: Path) -> Iterator[_Place]:
    """Finds it; OSError where the way ends. The folder is closed with the context."""
    way = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
    with contextlib.ExitStack() as stack:

        def enter(name: str, folder: int | None = None, flags: int = 0) -> int:
            file = os.open(name, way | flags, dir_fd=folder)
            stack.callback(os.close, file)
            return file

        text = os.fspath(path)
        folder = enter("/" if text.startswith("/") else ".")
        parts = [x for x in text.split("/") if x not in ("", ".")]
        links = 0
        while parts:
            name, rest = parts[0], parts[1:]
            try:
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            except FileNotFoundError:
                if rest:
                    raise
                yield _Place(folder, name)
                return
            if stat.S_ISLNK(status.st_mode) and not (_in_proc(folder) and not rest):
                links += 1
                if links > _MOST_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
                if _in_proc(folder):  # the kernel's, and no text that leads there
                    folder, parts = enter(name, folder), rest
                    continue
                if _is_foreign(os.fstat(folder), status):
                    raise OSError(errno.EACCES, _FOREIGN)
                target = os.readlink(name, dir_fd=folder)
                if target.startswith("/"):
                    folder = enter("/")
                parts = [x for x in target.split("/") if x not in ("", ".")] + rest
                continue
            if not rest and name != "..":
                yield _Place(folder, name)
                return
            folder, parts = enter(name, folder, os.O_NOFOLLOW), rest
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))


def _status(place: _Place) -> os.stat_result | None:
    try:
        return os.stat(place.name, dir_fd=place.folder, follow_symlinks=_in_proc(place.folder))
    except FileNotFoundError:
        return None


def _replace(place: _Place, data: bytes) -> None:
    temporary = f".{secrets.token_hex(8)}.part"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(temporary, flags, 0o666, dir_fd=place.folder)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.replace(temporary, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=place.folder)
        raise


def write_bytes(path: Path, data: bytes) -> None:
    """Writes the whole file or nothing; makes its folder; UserError on failure."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _place(path) as place:
            status = _status(place)
            if status is not None and stat.S_ISDIR(status.st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            if status is None or (stat.S_ISREG(status.st_mode) and not _in_proc(place.folder)):
                _replace(place, data)
                return
            if _is_foreign(os.fstat(place.folder), status):
                raise OSError(errno.EACCES, "is another user's, where everybody may put one")
            append = os.O_APPEND if _in_proc(place.folder) else os.O_NOFOLLOW
            handle = os.open(place.name, os.O_WRONLY | append, dir_fd=place.folder)
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {reason(error)}") from error
    except ValueError as error:  # a zero byte in the name
        raise UserError(f"{path}: cannot be written: {error}") from error


def open_to_append(path: Path) -> int:
    """A descriptor of the file, which is made where it is not there; makes its folder; OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with _place(path) as place:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(place.name, flags, 0o666, dir_fd=place.folder)
        if _is_foreign(os.fstat(place.folder), os.fstat(handle)):
            os.close(handle)
            raise OSError(errno.EACCES, "is another user's, where everybody may put one")
        return handle


def write_text(path: Path, text: str) -> None:
    """The same of text."""
    write_bytes(path, text.encode("utf-8"))


def _identity(path: Path) -> tuple[int, int, str] | None:
    """Equal for paths that lead to one file; None for devices, pipes, and what leads nowhere."""
    try:
        with _place(path) as place:
            status = _status(place)
            if status is None:
                folder = os.fstat(place.folder)
                return folder.st_dev, folder.st_ino, place.name
            if not stat.S_ISREG(status.st_mode):
                return None
            return status.st_dev, status.st_ino, ""
    except (OSError, ValueError):
        return None


def check_target(path: Path, option: str, *, directory: bool = False, make: bool = True) -> None:
    """UserError that names the option if nothing could be written there; makes the folder, or wants
    it to exist."""
    folder = path if directory else path.parent
    if not directory and path.is_dir():
        raise UserError(f"{option} {path}: is a directory; name a file")
    try:
        if make:
            folder.mkdir(parents=True, exist_ok=True)
        folder.stat()
    except OSError as error:
        raise UserError(f"{option} {path}: cannot be written: {reason(error)}") from error
    if not os.access(folder, os.W_OK):
        raise UserError(f"{option} {path}: cannot be written: no permission in {folder}")


def check_outputs(outputs: Iterable[Path], inputs: Iterable[Path]) -> None:
    """UserError where an output is an input, which it would replace, or another output."""
    read = {x for x in map(_identity, inputs) if x is not None and not x[2]}
    taken: set[tuple[int, int, str]] = set()
    for path in outputs:
        own = _identity(path)
        if own is None:
            continue
        if own in read:
            raise UserError(f"{path}: is an input, and would be overwritten: name another file")
        if own in taken:
            raise UserError(f"{path}: two outputs cannot go to one file")
        taken.add(own)

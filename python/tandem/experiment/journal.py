# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The journal of a run: finished samples, one JSON object a line, on disk before the next begins.

The first line says what is being measured (`identity`); a journal is continued only by the very
same run. A last line that a crash cut off is dropped; any other damage is an error.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from tandem.errors import JournalError, RunError, UserError
from tandem.experiment.sample import Measured
from tandem.files import MOST_BYTES, open_to_append, reason

__all__ = ["Journal", "Record", "read_journal"]

_VERSION = 1


@dataclass(frozen=True, slots=True)
class Record:
    """A journal as read."""

    identity: Mapping[str, Any]
    started: str  # UTC, ISO 8601
    samples: tuple[Measured, ...]
    length: int  # bytes of whole lines


def read_journal(path: Path) -> Record:
    """Reads a journal; JournalError where it is damaged or of another version."""
    try:
        with open(path, "rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {reason(error)}") from error
    if len(data) > MOST_BYTES:
        raise JournalError(f"{path}: is too large for a journal; start anew with --fresh")
    whole = data[: data.rfind(b"\n") + 1]
    lines = whole.decode("utf-8", errors="replace").splitlines()
    samples: list[Measured] = []
    number = 0
    try:
        if not lines:
            raise ValueError("it is empty")
        number = 1
        head = json.loads(lines[0])
        if head["journal"] != _VERSION:
            raise ValueError(f"version {head['journal']} cannot be read")
        identity, started = dict(head["identity"]), str(head["started"])
        for number, line in enumerate(lines[1:], 2):  # noqa: B007
            samples.append(Measured(**json.loads(line)))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise JournalError(
            f"{path}:{number}: not a journal that can be continued ({error}); "
            "start anew with --fresh"
        ) from error
    return Record(identity, started, tuple(samples), len(whole))


class Journal:
    """Appends samples; a context manager. One writer, one thread."""

    def __init__(self, path: Path, stream: TextIO) -> None:
        self.path = path
        self._stream = stream

    @classmethod
    def create(cls, path: Path, identity: Mapping[str, Any], started: str) -> Journal:
        """Starts a journal, in place of one that may be there."""
        journal = cls._open(path, 0)
        journal._line({"journal": _VERSION, "identity": dict(identity), "started": started})
        return journal

    @classmethod
    def resume(cls, path: Path, record: Record) -> Journal:
        """Continues behind the whole lines of `record`."""
        return cls._open(path, record.length)

    @classmethod
    def _open(cls, path: Path, length: int) -> Journal:
        try:
            stream = os.fdopen(open_to_append(path), "a", encoding="utf-8")
            stream.truncate(length)
        except OSError as error:
            raise UserError(f"{path}: cannot be written: {reason(error)}") from error
        return cls(path, stream)

    def add(self, sample: Measured) -> None:
        """Returns when the sample is on disk."""
        self._line(asdict(sample))

    def remove(self) -> None:
        """Closes and deletes the journal, when the result is written."""
        self._stream.close()
        self.path.unlink(missing_ok=True)

    def _line(self, document: Mapping[str, Any]) -> None:
        try:
            self._stream.write(json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n")
            self._stream.flush()
            os.fsync(self._stream.fileno())
        except OSError as error:
            raise RunError(
                f"{self.path}: cannot be written: {reason(error)}; make room, then continue with "
                "--resume"
            ) from error

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stream.close()

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a file workloads/programs/NAME.toml says (docs/programs.md explains its keys)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Any

from tandem.errors import FormatError
from tandem.files import read_text
from tandem.paths import ROOT

__all__ = ["FOLDER", "Job", "Program", "read_program"]

FOLDER = ROOT / "workloads" / "programs"
_KEYS = {
    *("version", "source", "folder", "output", "configure", "build", "environment", "wrappers"),
    *("needs", "job"),
}
_BUILD_NAMES = ("cc", "cxx", "ar", "ranlib")
_JOB_NAMES = ("program", "threads", "input", "output")
_JOB_KEYS = {"command", "stdin", "undo", "input_mib", "writes_output", "minute"}


@dataclass(frozen=True, slots=True)
class Job:
    """What a built program is run for. In the words {program}, {threads}, {input}, {output}."""

    command: tuple[str, ...]
    undo: tuple[str, ...]  # gives the input again from what was written; empty: nothing does
    stdin: bool
    writes_output: bool  # to {output}; else to standard output
    minute: tuple[str, ...]  # work of the same kind for more than a minute; empty: none is known
    input_mib: int


@dataclass(frozen=True, slots=True)
class Program:
    name: str
    source: str | Path  # Debian's source package, or a folder
    output: str  # the program, below the source's folder
    configure: tuple[tuple[str, ...], ...]
    build: tuple[tuple[str, ...], ...]
    environment: tuple[str, ...]
    wrappers: tuple[str, ...]
    needs: tuple[str, ...]  # Debian packages
    job: Job


def _words(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(x, str) for x in value):
        raise FormatError(f"{where} is not a list of texts")
    return tuple(value)


def _filled(value: Any, where: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Words in which `{name}` stands for something."""
    words = _words(value, where)
    for word in words:
        try:
            used = [name for _, name, _, _ in Formatter().parse(word) if name is not None]
        except ValueError as error:
            raise FormatError(
                f"{where}: '{word}': {str(error).lower()}; a brace itself is {{{{ or }}}}"
            ) from error
        if unknown := [x for x in used if x not in names]:
            raise FormatError(f"{where}: '{{{unknown[0]}}}' is none of {', '.join(names)}")
    return words


def _commands(value: Any, where: str) -> tuple[tuple[str, ...], ...]:
    if not isinstance(value, list):
        raise FormatError(f"{where} is not a list of commands")
    return tuple(_filled(x, where, _BUILD_NAMES) for x in value)


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise FormatError(f"{where} is not a text")
    return value


def _job(data: Any, path: Path) -> Job:
    for key in ("stdin", "writes_output"):
        if not isinstance(data.get(key, False), bool):
            raise FormatError(f"{path}: job.{key} is neither true nor false")
    mib = data.get("input_mib", 8)
    if not isinstance(mib, int) or isinstance(mib, bool) or not 1 <= mib <= 1024:
        raise FormatError(f"{path}: job.input_mib is not a number from 1 to 1024")
    command = _filled(data["command"], f"{path}: job.command", _JOB_NAMES)
    minute = _words(data.get("minute", []), f"{path}: job.minute")
    if minute[:1] == ("{command}",):
        minute = command + minute[1:]
    return Job(
        command=command,
        undo=_words(data.get("undo", []), f"{path}: job.undo"),
        stdin=data.get("stdin", False),
        writes_output=data.get("writes_output", False),
        minute=_filled(list(minute), f"{path}: job.minute", _JOB_NAMES),
        input_mib=mib,
    )


def read_program(path: Path) -> Program:
    """FormatError with the file's name where it is not one of a program."""
    try:
        data = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise FormatError(f"{path}: {str(error).lower()}") from error
    job = data.get("job")
    if data.get("version") != 1 or not isinstance(job, dict):
        raise FormatError(f"{path}: needs version = 1 and [job]")
    for keys, known in ((data, _KEYS), (job, _JOB_KEYS)):
        if unknown := sorted(set(keys) - known):
            raise FormatError(
                f"{path}: '{unknown[0]}' is not known; use {', '.join(sorted(known))}"
            )
    if ("source" in data) == ("folder" in data):
        raise FormatError(f"{path}: needs either source, a Debian package, or folder")
    missing = [x for x in ("output", "build") if x not in data]
    if missing or "command" not in job:
        raise FormatError(f"{path}: has no {(missing or ['job.command'])[0]}")
    if "source" in data:
        source: str | Path = _text(data["source"], f"{path}: source")
    else:
        source = path.parent / _text(data["folder"], f"{path}: folder")
        if not source.is_dir():
            raise FormatError(f"{path}: folder {source} is no folder")
    return Program(
        name=path.stem,
        source=source,
        output=_text(data["output"], f"{path}: output"),
        configure=_commands(data.get("configure", []), f"{path}: configure"),
        build=_commands(data["build"], f"{path}: build"),
        environment=_filled(data.get("environment", []), f"{path}: environment", _BUILD_NAMES),
        wrappers=_words(data.get("wrappers", []), f"{path}: wrappers"),
        needs=_words(data.get("needs", []), f"{path}: needs"),
        job=_job(job, path),
    )

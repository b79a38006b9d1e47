# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the blocks of a page as its reader would, and compares what they print.

A page is one bash session that begins in a copy of the project's folder (links, with the tested
build as build/release). In their order:

    ```console    lines with `$ ` are run, a `\\` at the end goes on in the next line; the lines
                  behind are what they print, both streams. `...` alone stands for any lines.
    ```c, toml…   a block whose first line is a comment that is a name (`// shop.c`) is that file
    ```diff       with `--- NAME` first: the change of that file, applied by patch

A command must end with 0, unless `echo $?` follows it. Above a block:

    <!-- numbers vary -->   each number, with its unit of time, stands for any
    <!-- output varies -->  only statuses count, and that there is output
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(
    r"^(?:<!-- (?P<mode>numbers vary|output varies) -->\n+)?"
    r"```(?P<kind>[a-z+]+)\n(?P<text>.*?)^```$",
    re.M | re.S,
)
_FILE = re.compile(r"^(?://|#|/\*) ([\w.-]+\.\w+)(?: \*/)?$")
_NUMBER = re.compile(r"\d[\d,.]*(?: (?:ns|µs|ms|s)\b)?")
_MARK = "\x01tandem\x01"


@dataclass(frozen=True)
class Command:
    text: str
    expected: str
    mode: str
    line: int


def _console(text: str, mode: str, line: int) -> list[Command]:
    commands: list[Command] = []
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        if not lines[at].startswith("$ "):
            raise ValueError(f"line {line + at}: output without a command")
        begin, words = at, lines[at][2:]
        while words.endswith("\\"):
            at += 1
            words = f"{words[:-1]}{lines[at].strip()}"
        at += 1
        shown = []
        while at < len(lines) and not lines[at].startswith("$ "):
            shown.append(lines[at])
            at += 1
        commands.append(Command(words, "\n".join(shown), mode, line + begin))
    return commands


def steps(page: str) -> list[Command]:
    """What the page does, files as commands that write them."""
    found: list[Command] = []
    for block in _BLOCK.finditer(page):
        line = page.count("\n", 0, block.start("text")) + 1
        kind, text = block["kind"], block["text"]
        first = text.split("\n", 1)[0]
        if kind == "console":
            found += _console(text, block["mode"] or "", line)
        elif kind == "diff" and first.startswith("--- "):
            found.append(Command(f"patch -s {first[4:]} <<'END'\n{text}END", "", "", line))
        elif name := _FILE.match(first):
            found.append(Command(f"cat >{name[1]} <<'END'\n{text}END", "", "", line))
    return found


def _pattern(line: str, mode: str) -> str:
    if mode != "numbers vary":
        return re.escape(line.rstrip()) + r"[ ]*"
    parts = [r"\s+".join(map(re.escape, re.split(r"\s+", x))) for x in _NUMBER.split(line.strip())]
    return r"\s*" + _NUMBER.pattern.join(parts) + r"\s*"


def agrees(expected: str, got: str, mode: str) -> bool:
    if mode == "output varies":
        return bool(got.strip()) or not expected.strip()
    lines = expected.splitlines()
    pattern = "".join(
        r"(?:[^\n]*\n)*?" if x.strip() == "..." else f"{_pattern(x, mode)}\n" for x in lines
    )
    return re.fullmatch(pattern, got.rstrip("\n") + "\n" if got.strip() else "") is not None


def run(page: str, source: Path, build: Path) -> list[str]:
    """What does not agree, a text each."""
    todo = steps(page)
    with tempfile.TemporaryDirectory(prefix="tandem-page-") as folder:
        for entry in source.iterdir():
            if entry.name not in ("build", ".git"):
                (Path(folder) / entry.name).symlink_to(entry)
        (Path(folder) / "build").mkdir()
        (Path(folder) / "build/release").symlink_to(build)
        script = "".join(
            f"{x.text}\n_status=$?; printf '\\n{_MARK}%d\\n' $_status; (exit $_status)\n"
            for x in todo
        )
        drop = ("TANDEM_", "ITM_", "LD_")
        environment = {k: v for k, v in os.environ.items() if not k.startswith(drop)}
        done = subprocess.run(
            ["bash"],
            input=script,
            cwd=folder,
            env=environment | {"TMPDIR": folder, "LC_ALL": "C.UTF-8"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
    parts = done.stdout.split(f"\n{_MARK}")
    findings: list[str] = []
    output = parts[0]
    for index, command in enumerate(todo):
        if index + 1 >= len(parts):
            return [*findings, f"line {command.line}: the session ended before {command.text}"]
        status, _, rest = parts[index + 1].partition("\n")
        asked = index + 1 < len(todo) and todo[index + 1].text == "echo $?"
        if status != "0" and not asked:
            findings.append(f"line {command.line}: {command.text}: status {status}\n{output}")
        elif not agrees(command.expected, output, command.mode):
            findings.append(
                f"line {command.line}: {command.text}\n"
                f"the page:\n{command.expected}\nprinted:\n{output}"
            )
        output = rest
    return findings

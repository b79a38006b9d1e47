# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Progress on standard error: a bar on a terminal, plain lines elsewhere, or nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as RichProgress

from tandem.files import printable

__all__ = ["Bar", "Progress"]


class Bar:
    """The steps of one experiment."""

    def __init__(self, progress: Progress, total: int, rich: RichProgress | None) -> None:
        self._progress = progress
        self._total = total
        self._done = 0
        self._rich = rich
        self._task: TaskID | None = rich.add_task("", total=total) if rich else None

    def advance(self, what: str) -> None:
        """One step is done; `what` says which."""
        self._done += 1
        if self._rich is not None and self._task is not None:
            self._rich.update(self._task, advance=1, description=escape(printable(what)))
        else:
            self._progress.line(f"[{self._done}/{self._total}] {what}")


class Progress:
    """`style`: bar, lines or off. Writes only to `stream`."""

    def __init__(self, style: str = "off", stream: TextIO | None = None) -> None:
        self.style = style
        self._stream = stream or sys.stderr

    @classmethod
    def automatic(cls, wanted: bool | None = None, stream: TextIO | None = None) -> Progress:
        """A bar on a terminal or where it is asked for (True); off if False; else plain lines."""
        target = stream or sys.stderr
        if wanted is False:
            return cls("off", target)
        return cls("bar" if wanted or target.isatty() else "lines", target)

    def note(self, text: str) -> None:
        """A line between the steps."""
        self.line(text)

    def line(self, text: str) -> None:
        if self.style != "off":
            print(printable(text), file=self._stream, flush=True)

    @contextmanager
    def bar(self, name: str, total: int) -> Iterator[Bar]:
        """Shows the steps of one experiment while the context lasts."""
        if self.style != "bar":
            yield Bar(self, total, None)
            return
        rich = RichProgress(
            TextColumn(
                printable(name).replace("{", "{{").replace("}", "}}"), style="bold", markup=False
            ),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}", style="dim"),
            console=Console(file=self._stream, force_terminal=self._stream.isatty() or None),
            transient=True,
        )
        with rich:
            yield Bar(self, total, rich)

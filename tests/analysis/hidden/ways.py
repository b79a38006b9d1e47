# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ways to hide an address, and ways for code to be run: the tables beside this file.

A way puts an address somewhere, and takes it from there. In `put` the address is `pointer` (struct
cell *) or `word` (uintptr_t); `take` assigns one of these. `@cell` is an lvalue of type `cell`,
which lies wherever the program keeps it, and `@n` a number that nothing else of the program has.
`once` is text before the functions. What `outside` is true of reads what was written: it is taken
once, outside of sections.

A run makes something call `@run()`, a function of the program without arguments or result. `text`
is before main; `setup` are statements that come first, `call` those after which `@run()` has been
called, once. Where it is called before main or after it, `call` is empty. `inside`: `call` may
stand in a section, which then touches what `@run()` touches. `quick`: the program has to end by
quick_exit.

Both: `headers`; `flags` of the link; `cxx`: C++ only; `only_c`.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["DIRECT", "Run", "Way", "runs", "ways"]

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Way:
    name: str
    group: str
    put: str
    take: str
    cell: str = ""
    once: str = ""
    headers: tuple[str, ...] = ()
    cxx: bool = False
    only_c: bool = False
    outside: bool = False


@dataclass(frozen=True)
class Run:
    name: str
    group: str
    text: str = ""
    setup: str = ""
    call: str = ""
    inside: bool = False
    headers: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    cxx: bool = False
    only_c: bool = False
    quick: bool = False


DIRECT = Run("direct", "direct", call="@run();")


def _read(file: str, key: str) -> list[dict[str, object]]:
    entries = tomllib.loads((FOLDER / file).read_text(encoding="utf-8"))[key]
    return [
        {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()}
        for entry in entries
    ]


@cache
def ways() -> tuple[Way, ...]:
    """All of them; names are unique."""
    own = [Way(**x) for file in ("values", "buffers") for x in _read(f"{file}.toml", "way")]  # type: ignore[arg-type]
    cxx = [Way(**x, cxx=True) for x in _read("cxx.toml", "way")]  # type: ignore[arg-type]
    return (*own, *cxx)


@cache
def runs() -> tuple[Run, ...]:
    return tuple(Run(**x) for x in _read("runs.toml", "run"))  # type: ignore[arg-type]

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is put into the engine, and who may find it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bug:
    """`old`, which must occur once in `file` below src/runtime/, becomes `new`."""

    what: str
    file: str
    old: str
    new: str
    algorithm: str
    programs: tuple[str, ...]

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds frozen dataclasses from checked JSON; fields that they do not know are skipped."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

__all__ = ["build"]

T = TypeVar("T")


def build(kind: type[T], document: Mapping[str, Any]) -> T:
    """An instance of a dataclass; a field's metadata {"json": NAME} is its name in the document."""
    assert dataclasses.is_dataclass(kind)
    hints = typing.get_type_hints(kind)
    values: dict[str, Any] = {}
    for field in dataclasses.fields(kind):
        name = field.metadata.get("json", field.name)
        if name in document:
            values[field.name] = _value(hints[field.name], document[name])
    made: T = kind(**values)
    return made


def _value(hint: Any, value: Any) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple:
        return tuple(_value(arguments[0], x) for x in value)
    if origin in (types.UnionType, typing.Union):
        inner = next(x for x in arguments if x is not types.NoneType)
        return None if value is None else _value(inner, value)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return build(hint, value)
    return value

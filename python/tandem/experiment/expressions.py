# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The small language of [[expect]], comparisons of numbers that are read from a result's points,
and of tables of documents, where an expression is a number.

Python's syntax, and of it only numbers, strings, lists, arithmetic, comparisons, `and`, `or`, `not`
and calls of the functions below. Lists combine element by element.

    value(METRIC, AXIS=VALUE, …)     the median at the one point that is left
    ratio(METRIC, AXIS=VALUE, …)     its ratio to the baseline
    values(…), ratios(…)             of all points that are left, in their order
    gm(LIST), mean(LIST), max(LIST), min(LIST), sum(LIST), len(LIST), abs(X)
    processors                       of the machine of the samples

An axis takes a value or a list of values; axes that are not named take all.
"""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tandem.formats.published import Scalar
from tandem.statistics import geometric_mean

__all__ = ["Expression", "ExpressionError", "Lookup", "Query", "parse_expression"]


class ExpressionError(ValueError):
    """An expression that is not one, or that cannot be computed."""


@dataclass(frozen=True, slots=True)
class Query:
    """One call that reads points."""

    what: str  # value, ratio, values, ratios
    metric: str
    at: Mapping[str, tuple[Scalar, ...]]

    @property
    def is_single(self) -> bool:
        return self.what in ("value", "ratio")

    @property
    def is_ratio(self) -> bool:
        return self.what in ("ratio", "ratios")


class Lookup(Protocol):
    """Where the numbers come from."""

    @property
    def processors(self) -> int: ...

    def read(self, query: Query) -> Sequence[float]: ...


Number = float | list[float]

_BINARY: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_COMPARE: Mapping[type, Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_READERS = ("value", "ratio", "values", "ratios")
_REDUCERS: Mapping[str, Callable[[list[float]], float]] = {
    "gm": geometric_mean,
    "mean": lambda x: sum(x) / len(x),
    "max": max,
    "min": min,
    "sum": sum,
    "len": lambda x: float(len(x)),
}


@dataclass(frozen=True, slots=True)
class Expression:
    """A checked expression; `queries` are all that it may read."""

    text: str
    tree: ast.expr
    queries: tuple[Query, ...]

    def holds(self, lookup: Lookup) -> bool:
        """ExpressionError where it cannot be computed (no point, division by zero)."""
        result = _Evaluator(lookup).of(self.tree)
        if not isinstance(result, bool):
            raise ExpressionError("is no comparison")
        return result

    def number(self, lookup: Lookup) -> float:
        """Of an expression that is a number; ExpressionError as above, or where it is a list."""
        result = _Evaluator(lookup).of(self.tree)
        if isinstance(result, bool | list):
            raise ExpressionError("is no number")
        return float(result)

    def sides(self, lookup: Lookup) -> str:
        """The numbers that were compared, for people: `1.013 <= 1.02`."""
        return _Evaluator(lookup).shown(self.tree)


def parse_expression(text: str, *, comparison: bool = True) -> Expression:
    """A comparison, or a number; ExpressionError says what is wrong, with the place in the text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", SyntaxWarning)  # as in `1or 2`
            tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, RecursionError, MemoryError, ValueError) as error:
        raise ExpressionError(f"'{text}' is no expression") from error
    queries: list[Query] = []
    _check(tree, queries)
    if comparison and not _is_test(tree):
        raise ExpressionError(f"'{text}' compares nothing; write a comparison such as … <= 1.02")
    return Expression(text.strip(), tree, tuple(queries))


def _is_test(node: ast.expr) -> bool:
    if isinstance(node, ast.BoolOp):
        return all(map(_is_test, node.values))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _is_test(node.operand)
    return isinstance(node, ast.Compare)


def _check(node: ast.expr, queries: list[Query]) -> None:
    def bad(what: str) -> ExpressionError:
        return ExpressionError(f"{what}: {ast.unparse(node)}")

    match node:
        case ast.Constant(value=bool() | None):
            raise bad("no such value")
        case ast.Constant(value=int() | float()) | ast.Name(id="processors"):
            return
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            parts = [left, right]
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            parts = [operand]
        case ast.BoolOp(values=values):
            parts = values
        case ast.Compare(left=left, ops=ops, comparators=others):
            if not all(type(x) in _COMPARE for x in ops):
                raise bad("no such comparison")
            parts = [left, *others]
        case ast.Call(func=ast.Name(id=name)) if name in _READERS:
            queries.append(_query(node, name))
            return
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if (
            name in _REDUCERS or name == "abs"
        ):
            parts = [argument]
        case ast.Call(func=ast.Name(id=name)):
            known = ", ".join((*_READERS, *_REDUCERS, "abs"))
            raise bad(f"no such function or arguments; there are {known}")
        case _:
            raise bad("not allowed here")
    for part in parts:
        _check(part, queries)


def _query(call: ast.Call, name: str) -> Query:
    if len(call.args) != 1 or not isinstance(call.args[0], ast.Constant):
        raise ExpressionError(f"{name} takes the name of a metric: {ast.unparse(call)}")
    metric = call.args[0].value
    if not isinstance(metric, str):
        raise ExpressionError(f"{name} takes the name of a metric: {ast.unparse(call)}")
    at: dict[str, tuple[Scalar, ...]] = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            raise ExpressionError(f"not allowed here: {ast.unparse(call)}")
        try:
            given = ast.literal_eval(keyword.value)
        except ValueError as error:
            raise ExpressionError(f"{keyword.arg} takes values: {ast.unparse(call)}") from error
        values = given if isinstance(given, list) else [given]
        if not values or not all(isinstance(x, str | int | float | bool) for x in values):
            raise ExpressionError(f"{keyword.arg} takes values: {ast.unparse(call)}")
        at[keyword.arg] = tuple(values)
    return Query(name, metric, at)


class _Evaluator:
    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    def of(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name():
                return self._lookup.processors
            case ast.BinOp(left=left, op=op, right=right):
                return self._combine(_BINARY[type(op)], self.of(left), self.of(right))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self.of(operand)
            case ast.UnaryOp(operand=operand):
                return self._combine(operator.sub, 0, self.of(operand))
            case ast.BoolOp(op=word, values=values):
                tests = [self.of(x) for x in values]
                return all(tests) if isinstance(word, ast.And) else any(tests)
            case ast.Compare():
                return self._compare(node)
            case ast.Call():
                return self._call(node)
        raise ExpressionError(f"not allowed here: {ast.unparse(node)}")

    def _combine(self, how: Callable[[Any, Any], Any], left: Number, right: Number) -> Number:
        try:
            if isinstance(left, list) and isinstance(right, list):
                if len(left) != len(right):
                    raise ExpressionError(f"lists of {len(left)} and of {len(right)} numbers")
                return [how(a, b) for a, b in zip(left, right, strict=True)]
            if isinstance(left, list):
                return [how(a, right) for a in left]
            if isinstance(right, list):
                return [how(left, b) for b in right]
            return float(how(left, right))
        except ZeroDivisionError as error:
            raise ExpressionError("a division by zero") from error

    def _compare(self, node: ast.Compare) -> bool:
        values = [self.of(x) for x in (node.left, *node.comparators)]
        if any(isinstance(x, list) for x in values):
            raise ExpressionError("a list is compared; use max, min or gm of it")
        pairs = zip(node.ops, values, values[1:], strict=False)
        return all(_COMPARE[type(op)](a, b) for op, a, b in pairs)

    def _call(self, node: ast.Call) -> Any:
        assert isinstance(node.func, ast.Name)
        name = node.func.id
        if name in _READERS:
            query = _query(node, name)
            numbers = list(self._lookup.read(query))
            if not numbers:
                raise ExpressionError(f"no point: {ast.unparse(node)}")
            if not query.is_single:
                return numbers
            if len(numbers) != 1:
                raise ExpressionError(f"{len(numbers)} points, not one: {ast.unparse(node)}")
            return numbers[0]
        argument = self.of(node.args[0])
        if name == "abs":
            return [abs(x) for x in argument] if isinstance(argument, list) else abs(argument)
        if not isinstance(argument, list):
            raise ExpressionError(f"{name} takes a list: {ast.unparse(node)}")
        try:
            return _REDUCERS[name](argument)
        except ValueError as error:
            raise ExpressionError(f"{error}: {ast.unparse(node)}") from error

    def shown(self, node: ast.expr) -> str:
        match node:
            case ast.BoolOp(op=kind, values=values):
                word = " and " if isinstance(kind, ast.And) else " or "
                return word.join(self.shown(x) for x in values)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return f"not {self.shown(operand)}"
            case ast.Compare(left=left, ops=ops, comparators=others):
                text = _short(self.of(left))
                for op, other in zip(ops, others, strict=True):
                    text += f" {_SIGNS[type(op)]} {_short(self.of(other))}"
                return text
        return _short(self.of(node))


_SIGNS: Mapping[type, str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "=",
    ast.NotEq: "!=",
}


def _short(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_short, value)) + "]"
    return f"{value:.4g}" if isinstance(value, float) and value != int(value) else f"{value:g}"

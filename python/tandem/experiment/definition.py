# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The experiment as data: what docs/formats/experiment.md describes, read from TOML and checked.

Errors are FormatError with the file and, where it can be found, the line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tandem.errors import FormatError
from tandem.experiment.consistency import check_definition
from tandem.experiment.parts import (
    Axis,
    Baseline,
    Build,
    Expect,
    Experiment,
    GeometricMean,
    Group,
    Metric,
    Plot,
    PublishedUse,
    Quick,
    Run,
)
from tandem.formats.documents import check, find_line, parse_toml, read_text
from tandem.formats.published import Published, Scalar

__all__ = ["from_document", "read_experiment"]


def read_experiment(path: Path, published: Published) -> Experiment:
    """Reads and checks a file; every name it uses is resolved here, before anything runs."""
    text = read_text(path)
    document = parse_toml(text, str(path))
    return from_document(document, file=str(path), name=path.stem, text=text, published=published)


def from_document(
    document: Mapping[str, Any],
    *,
    file: str,
    name: str,
    text: str | None = None,
    published: Published | None = None,
    sha256: str | None = None,
) -> Experiment:
    """The experiment in a document of the format; with `published`, references are resolved too."""
    check(document, "experiment", file, text)
    experiment = Experiment(
        file=file,
        name=document.get("name", name),
        sha256=sha256 or hashlib.sha256((text or "").encode()).hexdigest(),
        document=document,
        title=document["title"],
        paper=document.get("paper", ""),
        description=document.get("description", ""),
        statements=tuple(document.get("statements", ())),
        parameters=dict(document.get("parameters", {})),
        build=Build(**_with_tuples(document.get("build", {}))),
        axes=tuple(Axis(**_with_tuples(x)) for x in document["axis"]),
        exclude=tuple(
            {name: tuple(values) for name, values in rule.items()}
            for rule in document.get("exclude", ())
        ),
        run=Run(**_with_tuples(document["run"])),
        metrics=tuple(
            Metric(**{"origin" if k == "from" else k: v for k, v in x.items()})
            for x in document["metric"]
        ),
        baseline=Baseline(**document["baseline"]) if "baseline" in document else None,
        geometric_means=tuple(GeometricMean(**x) for x in document.get("geometric_mean", ())),
        published=tuple(
            PublishedUse(
                **{"where": {}, "keys": {}, "values": {}, **x, "at": _tuples(x.get("at", {}))}
            )
            for x in document.get("published", ())
        ),
        plots=tuple(
            Plot(**{**x, "only": _tuples(x["only"])} if "only" in x else x)
            for x in document.get("plot", ())
        ),
        groups=tuple(Group(**_with_tuples(x)) for x in document.get("group", ())),
        expects=tuple(Expect(**x) for x in document.get("expect", ())),
        quick=_quick(document.get("quick")),
    )

    def refuse(where: Sequence[str | int], message: str) -> FormatError:
        line = None if text is None else find_line(text, where)
        return FormatError(f"{file}{'' if line is None else f':{line}'}: {message}")

    check_definition(experiment, refuse, published)
    return experiment


def _tuples(table: Mapping[str, list[Scalar]]) -> dict[str, tuple[Scalar, ...]]:
    return {name: tuple(values) for name, values in table.items()}


def _quick(table: Mapping[str, Any] | None) -> Quick | None:
    if table is None:
        return None
    return Quick(
        parameters=dict(table.get("parameters", {})),
        only=_tuples(table.get("only", {})),
        repetitions=table.get("repetitions"),
        warm_ups=table.get("warm_ups"),
        estimate_s=table.get("estimate_s", 0),
        counts=table.get("counts", True),
    )


def _with_tuples(table: Mapping[str, Any]) -> dict[str, Any]:
    def fixed(value: Any) -> Any:
        return tuple(fixed(x) for x in value) if isinstance(value, list) else value

    return {name: fixed(value) for name, value in table.items()}

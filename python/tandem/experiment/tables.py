# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A result as tables for people."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tandem.experiment.definition import from_document
from tandem.experiment.parts import Experiment, Metric, describe
from tandem.files import printable
from tandem.formats.result import Point, Result
from tandem.statistics import Ratio, Summary

__all__ = [
    "definition_of",
    "disturbed_samples",
    "metric_rows",
    "number",
    "outcomes",
    "print_result",
]


def definition_of(result: Result, place: str) -> Experiment:
    """The experiment that a result was made of."""
    return from_document(
        result.definition,
        file=place,
        name=result.experiment["name"],
        sha256=result.experiment["sha256"],
    )


def number(value: float) -> str:
    """Four significant digits, whole numbers in full, no exponent for everyday sizes."""
    if isinstance(value, int) or (value == int(value) and abs(value) < 1e15):
        return f"{int(value):,}"
    size = abs(value)
    if size >= 1e6 or size < 1e-4:
        return f"{value:.3e}"
    if size >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def print_result(result: Result, console: Console, place: str = "result") -> None:
    """Title, one table for each metric that varies, geometric means, sentences, circumstances."""
    experiment = definition_of(result, place)
    console.print(_text(experiment.title, "bold"))
    if experiment.paper:
        console.print(_text(experiment.paper, "dim"))
    intervals = {x.interval for x in experiment.metrics}
    for metric in experiment.metrics:
        if metric.name in intervals:
            continue  # drawn as bars
        if metric.expect_equal:
            known = [x for x in result.points if metric.name in x.summaries]
            if not known:
                continue
            value = known[0].summaries[metric.name].median
            samples = sum(len(x.samples) for x in result.points)
            line = f"{metric.title}: {number(value)}{_unit(metric)} in all {samples} samples"
            console.print(_text(line))
        else:
            console.print(_table(result, experiment, metric))
    _print_means(result, experiment, console)
    if result.statements:
        console.print(Text("What the paper says", style="bold"))
        for statement in result.statements:
            console.print(_text(f"  “{statement.text}” ({statement.paper}, {statement.place})"))
    for line in outcomes(result):
        console.print(_text(line))
    _print_verdicts(result, console)
    console.print(_text(_circumstances(result), "dim"))


def _text(text: str, style: str = "") -> Text:
    """Text from a definition: no markup, and nothing that a terminal would obey."""
    return Text(printable(text), style=style)


def _unit(metric: Metric) -> str:
    return f" {metric.unit}" if metric.unit else ""


def _table(result: Result, experiment: Experiment, metric: Metric) -> Table:
    with_disturbed = _disturbed_column(result, metric)
    with_ratio = any(metric.name in x.ratios for x in result.points)
    with_published = any(x.published_of(metric.name) for x in result.points)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for axis in experiment.axes:
        numeric = all(isinstance(x, int | float) for x in axis.values)
        table.add_column(_text(axis.title), justify="right" if numeric else "left", no_wrap=True)
    unit = f" ({metric.unit})" if metric.unit else ""
    table.add_column(_text(f"{metric.title}{unit}"), justify="right", style="bold", no_wrap=True)
    table.add_column("min – max", justify="right", no_wrap=True)
    table.add_column("quartiles", justify="right", no_wrap=True)
    if with_disturbed:
        table.add_column("disturbed", justify="right", style="yellow", no_wrap=True)
    if with_ratio:
        kind = "speed-up" if metric.ratio == "speedup" else "relative"
        table.add_column(kind, justify="right", style="bold", no_wrap=True)
        if experiment.baseline is not None and experiment.baseline.pairing == "round":
            table.add_column("min – max", justify="right", no_wrap=True)
    if with_published:
        table.add_column("published", justify="right", style="cyan", no_wrap=True)
        if with_ratio:
            table.add_column("its ratio", justify="right", style="cyan", no_wrap=True)
    previous: Point | None = None
    for point in result.points:
        first = experiment.axes[0].name
        if previous is not None and len(point.at) > 1 and previous.at[first] != point.at[first]:
            table.add_section()
        cells = _row(point, experiment, metric, with_disturbed, with_ratio, with_published)
        table.add_row(*map(_text, cells))
        previous = point
    return table


def metric_rows(
    result: Result, experiment: Experiment, metric: Metric
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The metric's table as plain text: head and rows."""
    table = _table(result, experiment, metric)
    head = tuple(str(x.header) for x in table.columns)
    columns = [[str(cell) for cell in column.cells] for column in table.columns]
    rows = tuple(zip(*(x for x in columns), strict=True)) if columns else ()
    return head, rows


def _disturbed_column(result: Result, metric: Metric) -> bool:
    return metric.is_time and any(s.disturbed for x in result.points for s in x.samples)


def _row(
    point: Point,
    experiment: Experiment,
    metric: Metric,
    with_disturbed: bool,
    with_ratio: bool,
    with_published: bool,
) -> list[str]:
    cells = [axis.label_of(point.at[axis.name]) for axis in experiment.axes]
    if metric.name not in point.summaries:
        return [*cells, point.outcome.partition(":")[0] or "–", "", ""]
    summary: Summary = point.summaries[metric.name]
    cells += [
        number(summary.median),
        f"{number(summary.minimum)} – {number(summary.maximum)}",
        f"{number(summary.q1)} – {number(summary.q3)}",
    ]
    if with_disturbed:
        count = sum(bool(s.disturbed) for s in point.samples)
        cells.append(f"{count} of {len(point.samples)}" if count else "")
    if with_ratio and metric.name not in point.ratios:
        cells += (
            ["–", ""] if experiment.baseline and experiment.baseline.pairing == "round" else ["–"]
        )
    elif with_ratio:
        ratio: Ratio = point.ratios[metric.name]
        cells.append(f"{ratio.value:.2f}×")
        if experiment.baseline is not None and experiment.baseline.pairing == "round":
            spread = ratio.minimum is not None and ratio.maximum is not None
            cells.append(f"{ratio.minimum:.2f} – {ratio.maximum:.2f}" if spread else "")
    if with_published:
        published = point.published_of(metric.name)
        cells.append(f"{number(published.value)} {published.unit}".strip() if published else "–")
        if with_ratio:
            has_ratio = published is not None and published.ratio is not None
            cells.append(f"{published.ratio:.2f}×" if published and has_ratio else "–")
    return cells


def _print_means(result: Result, experiment: Experiment, console: Console) -> None:
    for mean in result.geometric_means:
        where = f" at {describe(mean.at)}" if mean.at else ""
        console.print(
            _text(
                f"geometric mean of {mean.n} ratios of {experiment.metric(mean.metric).title} over "
                f"{mean.over}{where}: {mean.value:.3f}×"
            )
        )


_STYLES = {"met": "green", "differs": "red", "undecided": "yellow", "not checked": "dim"}


def _print_verdicts(result: Result, console: Console) -> None:
    if not result.verdicts:
        return
    console.print(Text("Checks", style="bold"))
    for x in result.verdicts:
        line = Text("  ").append(x.state, style=_STYLES[x.state])
        line.append(printable(f"  {x.name}"))
        if x.compared:
            line.append(printable(f": {x.compared}"))
        if x.state != "met" and x.why:
            line.append(printable(f" ({x.why})"), style="dim")
        console.print(line)


def outcomes(result: Result) -> list[str]:
    """Points without figures, each with the reason."""
    return [f"{describe(x.at)}: {x.outcome}" for x in result.points if x.outcome]


def disturbed_samples(result: Result) -> str:
    """How many samples were taken while others used the machine, where a metric is a time."""
    experiment = definition_of(result, "result")
    if not any(x.is_time for x in experiment.metrics):
        return ""
    samples = [s for point in result.points for s in point.samples]
    known = [s for s in samples if s.disturbed is not None]
    count = sum(s.disturbed != "" for s in known)
    if not known or count == 0:
        return ""
    others = sum(s.others_cpu_s or 0 for s in known) / (sum(s.wall_s for s in known) or 1)
    stolen = sum(s.stolen_s or 0 for s in known) / (sum(s.wall_s for s in known) or 1)
    return (
        f"{count} of {len(samples)} samples disturbed: others took {others:.2f} processors, "
        f"{stolen:.2f} were stolen"
    )


def _circumstances(result: Result) -> str:
    host, commit, run = result.host, result.commit, result.configuration
    git = commit["git"][:12] + ("+changes" if commit["dirty"] else "") if commit["git"] else "none"
    parameters = " ".join(f"{k}={v}" for k, v in run["parameters"].items())
    disturbed = disturbed_samples(result)
    return (
        (f"{disturbed}; " if disturbed else "")
        + f"median of {run['repetitions']} interleaved rounds (seed {result.seed}); {host['cpu']}, "
        f"{host['cores']} cores, RTM {'yes' if host['rtm'] else 'no'}, {host['kernel']}; "
        f"commit {git}; {parameters + '; ' if parameters else ''}{result.finished}"
    )

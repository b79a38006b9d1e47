# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line: `tandem experiment run | paper | list | show | record | quote`.

Exit status: 0; 1 where an experiment failed or a check that should be met differs; 2 for the
user's mistake; 130 after Ctrl-C.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from tandem.errors import CheckMissed, InterruptedRun, TandemError, UserError
from tandem.experiment.definition import from_document, read_experiment
from tandem.experiment.parts import Experiment, parse_scalar, plot_paths, points_of, shown
from tandem.experiment.plan import read_plan
from tandem.experiment.progress import Progress
from tandem.experiment.run import Settings, journal_path, run_experiment
from tandem.experiment.tables import definition_of, print_result
from tandem.files import check_outputs, check_target, printable
from tandem.formats.documents import parse_toml, read_text, to_json, write_text
from tandem.formats.published import Scalar, read_published
from tandem.formats.result import Result, read_result, result_to_json
from tandem.paths import EXPERIMENTS, PAPER, PUBLISHED, ROOT, in_checkout, prefix, work_folder
from tandem.program import answer, guarded
from tandem.version import version_text

__all__ = ["main"]

_PROGRAM = "tandem experiment"

app = typer.Typer(
    help="Runs declared experiments: tables, plots and JSON, beside what the papers published.",
    add_completion=False,
    no_args_is_help=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _console() -> Console:
    """Standard output; wide where it is no terminal, so that files hold whole rows."""
    return Console(soft_wrap=False, width=None if sys.stdout.isatty() else 140, highlight=False)


def _version(asked: bool) -> None:
    if asked:
        print(f"{_PROGRAM} {version_text()}")
        raise typer.Exit()


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass


def _results() -> Path:
    """Where results go by default: the checkout's build folder, else the current directory's."""
    return work_folder() / "results" if in_checkout() else Path("tandem-results")


def _find(name: str) -> Path:
    """The file of an experiment given as a path or as the name of one of the project's."""
    path = Path(name)
    if path.suffix == ".toml" or "/" in name:
        return path
    found = EXPERIMENTS / f"{name}.toml"
    if found.exists() and found not in (PUBLISHED, PAPER):
        return found
    known = ", ".join(x.stem for x in _known()) or "none"
    raise UserError(f"unknown experiment '{name}'; name a .toml file or one of: {known}")


def _known() -> list[Path]:
    found = (x for x in EXPERIMENTS.glob("*.toml") if x not in (PUBLISHED, PAPER))
    return sorted(found, key=lambda x: x.stem)


def _parameters(experiment: Experiment, texts: Sequence[str]) -> dict[str, Scalar]:
    values: dict[str, Scalar] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or name not in experiment.parameters:
            known = ", ".join(experiment.parameters) or "none"
            raise UserError(
                f"--set {text}: give NAME=VALUE with a parameter of {experiment.name}: {known}"
            )
        values[name] = parse_scalar(value, experiment.parameters[name], f"--set {name}")
    return values


def _only(experiment: Experiment, texts: Sequence[str]) -> dict[str, list[Scalar]]:
    """Axis restrictions; the baseline of every point that is left must be left too."""
    only: dict[str, list[Scalar]] = {}
    axes = {x.name: x for x in experiment.axes}
    for text in texts:
        name, equals, listed = text.partition("=")
        if not equals or name not in axes:
            raise UserError(
                f"--only {text}: give AXIS=VALUE,… with an axis of {experiment.name}: "
                f"{', '.join(axes)}"
            )
        known = {shown(x): x for x in axes[name].values}
        for value in listed.split(","):
            if value not in known:
                raise UserError(
                    f"--only {name}: '{value}' is none of its values: {', '.join(known)}"
                )
        only[name] = [x for x in axes[name].values if shown(x) in listed.split(",")]
    points = points_of(experiment, only)
    if not points:
        raise UserError(f"--only leaves no point of {experiment.name}; leave more values")
    for at in points:
        base = experiment.baseline_of(at)
        if base is not None and base not in points:
            missing = " ".join(f"{k}={shown(v)}" for k, v in base.items())
            raise UserError(f"--only leaves out the baseline {missing}; keep it")
    return only


@app.command()
def run(
    experiments: Annotated[
        list[str], typer.Argument(metavar="EXPERIMENT", help="Names or .toml files.")
    ],
    reps: Annotated[int | None, typer.Option(min=1, metavar="N", help="Measured rounds.")] = None,
    warm_ups: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Rounds before them.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Of the order within rounds.")
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(min=0.001, metavar="SECONDS", help="Of each sample.")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="AXIS=VALUE,…", help="Restrict an axis.")
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Run on the Dask cluster of this scheduler."),
    ] = None,
    json_: Annotated[
        str | None,
        typer.Option("--json", metavar="FILE", help="The result; - is standard output."),
    ] = None,
    results: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where results go as NAME.json.")
    ] = None,
    plots: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where plots go; default: with the result.")
    ] = None,
    no_plots: Annotated[bool, typer.Option("--no-plots", help="Draw none.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="The short form that the file declares.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted run.")] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Start anew where one was interrupted.")
    ] = False,
    work: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Scratch folder to keep; default: a temporary one."),
    ] = None,
    source: Annotated[Path, typer.Option(metavar="DIR", help="What {source} stands for.")] = ROOT,
    build: Annotated[
        Path | None, typer.Option(metavar="DIR", help="What {build} stands for.")
    ] = None,
    published: Annotated[
        Path, typer.Option(metavar="FILE", help="The published values.")
    ] = PUBLISHED,
    progress: Annotated[
        bool | None,
        typer.Option(
            "--progress/--no-progress",
            " /--quiet",
            help="Default: a bar on a terminal, else lines.",
        ),
    ] = None,
) -> None:
    """Run experiments and show what came out."""
    if json_ is not None and json_ != "-" and len(experiments) > 1:
        raise UserError("--json FILE holds one experiment; use --results DIR for several")
    if resume and fresh:
        raise UserError("--resume and --fresh exclude each other; give one")
    values = read_published(published)
    shower = Progress.automatic(progress)
    folder = results or _results()
    planned: list[tuple[Experiment, Settings]] = []
    for name in experiments:
        experiment = read_experiment(_find(name), values)
        if quick and experiment.quick is None:
            raise UserError(f"--quick: {experiment.name} declares no short form; leave it out")
        target = folder / f"{experiment.name}.json"
        if json_ is not None and json_ != "-":
            target = Path(json_)
        check_target(target, "--json" if json_ not in (None, "-") else "--results")
        settings = Settings(
            source=source.resolve(),
            build=_build(build),
            result=target,
            work=work if work is None or len(experiments) == 1 else work / experiment.name,
            repetitions=reps,
            warm_ups=warm_ups,
            seed=seed,
            timeout_s=timeout,
            parameters=_parameters(experiment, set_ or []),
            only=_only(experiment, only or []),
            scheduler=scheduler,
            resume=resume,
            fresh=fresh,
            quick=quick,
        )
        planned.append((experiment, settings))
    if plots is not None:
        check_target(plots, "--plots", directory=True)
    check_outputs(
        [path for x, settings in planned for path in _written(x, settings.result, plots, no_plots)],
        [published, *(Path(x.file) for x, _ in planned)],
    )
    missed: list[str] = []
    for experiment, settings in planned:
        try:
            result = run_experiment(experiment, values, settings, shower)
        except KeyboardInterrupt as error:
            raise InterruptedRun("interrupted; continue with --resume") from error
        if json_ == "-":
            sys.stdout.write(result_to_json(result))
        else:
            print_result(result, _console(), str(settings.result))
        written = [settings.result]
        if not no_plots:
            written += _draw(result, plots or settings.result.parent, str(settings.result))
        for path in written:
            shower.note(f"wrote {_short(path)}")
        missed += [f"{experiment.name}: {x.name}" for x in result.verdicts if x.is_missed]
    if missed:
        raise CheckMissed(
            f"{len(missed)} checks that should be met differ: {'; '.join(missed)}"
            if len(missed) > 1
            else f"a check that should be met differs: {missed[0]}"
        )


def _written(
    experiment: Experiment, result: Path, plots: Path | None, no_plots: bool
) -> list[Path]:
    """The files of a run: its journal, its result, its plots."""
    drawn = [] if no_plots else plot_paths(experiment, plots or result.parent)
    return [journal_path(result), result, *drawn]


def _draw(result: Result, directory: Path, place: str) -> list[Path]:
    from tandem.experiment.plots import draw  # matplotlib takes a second to load

    return draw(result, directory, place)


def _build(given: Path | None) -> Path:
    return prefix() if given is None else given.resolve()


def _short(path: Path) -> str:
    try:
        return printable(str(path.resolve().relative_to(Path.cwd())))
    except ValueError:
        return printable(str(path))


@app.command()
def paper(
    quick: Annotated[
        bool, typer.Option("--quick", help="The short form of each: at most 15 minutes.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Keep what is done; continue what was interrupted.")
    ] = False,
    counts: Annotated[
        bool,
        typer.Option(
            "--counts",
            help="Leave out experiments that measure times; with --quick at most 3 minutes.",
        ),
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN", help="Run experiments of these names ('flask-*'); others stay."
        ),
    ] = None,
    results: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where results, plots and the pages go.")
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Run on the Dask cluster of this scheduler."),
    ] = None,
    source: Annotated[Path, typer.Option(metavar="DIR", help="What {source} stands for.")] = ROOT,
    build: Annotated[
        Path | None, typer.Option(metavar="DIR", help="What {build} stands for.")
    ] = None,
    published: Annotated[
        Path, typer.Option(metavar="FILE", help="The published values.")
    ] = PUBLISHED,
    plan: Annotated[Path, typer.Option(metavar="FILE", help="The list of rows.")] = PAPER,
    progress: Annotated[
        bool | None,
        typer.Option(
            "--progress/--no-progress",
            " /--quiet",
            help="Default: a bar on a terminal, else lines.",
        ),
    ] = None,
) -> None:
    """Every table and figure of the papers on one page, with verdicts."""
    from tandem.experiment.paper import Campaign, run_campaign

    values = read_published(published)
    rows = read_plan(plan, values)
    folder = results or _results() / ("paper-quick" if quick else "paper")
    campaign = Campaign(
        plan=rows,
        published=values,
        folder=folder,
        source=source.resolve(),
        build=_build(build),
        quick=quick,
        resume=resume,
        counts_only=counts,
        only=tuple(only or ()),
        scheduler=scheduler,
    )
    if not campaign.chosen():
        raise UserError(
            f"no experiment is left to run: {', '.join(rows.experiments)} are in {plan}"
        )
    check_target(folder, "--results", directory=True)
    shower = Progress.automatic(progress)
    try:
        run_campaign(campaign, shower)
    finally:
        for name in ("paper.html", "paper.md"):
            if (folder / name).exists():
                shower.note(f"wrote {_short(folder / name)}")


@app.command(name="list")
def list_(
    json_: Annotated[
        str | None, typer.Option("--json", metavar="FILE", help="As JSON; - is standard output.")
    ] = None,
) -> None:
    """List the project's experiments."""
    found: list[Experiment] = []
    for path in _known():
        text = read_text(path)
        document = parse_toml(text, str(path))
        found.append(from_document(document, file=str(path), name=path.stem, text=text))
    if json_ is not None:
        rows: list[dict[str, Any]] = [
            {
                "name": x.name,
                "title": x.title,
                "paper": x.paper,
                "file": x.file,
                "points": len(points_of(x)),
                "repetitions": x.run.repetitions,
            }
            for x in found
        ]
        text = to_json({"version": 1, "experiments": rows})
        if json_ == "-":
            sys.stdout.write(text)
        else:
            check_outputs([Path(json_)], _known())
            write_text(Path(json_), text)
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("name", no_wrap=True, style="bold")
    table.add_column("what")
    table.add_column("paper")
    table.add_column("points", justify="right")
    for x in found:
        table.add_row(*map(printable, (x.name, x.title, x.paper)), str(len(points_of(x))))
    _console().print(table)


@app.command()
def show(
    files: Annotated[list[Path], typer.Argument(metavar="RESULT.json", help="Result files.")],
    plots: Annotated[Path | None, typer.Option(metavar="DIR", help="Draw the plots there.")] = None,
) -> None:
    """Show results again."""
    read = [(path, read_result(path)) for path in files]
    if plots is not None:
        check_target(plots, "--plots", directory=True)
        drawn = [plot_paths(definition_of(x, str(path)), plots) for path, x in read]
        check_outputs([x for paths in drawn for x in paths], files)
    for path, result in read:
        print_result(result, _console(), str(path))
        if plots is not None:
            for file in _draw(result, plots, str(path)):
                print(f"wrote {_short(file)}", file=sys.stderr)


@app.command()
def record(
    result: Annotated[Path, typer.Argument(metavar="RESULT.json", help="A result file.")],
    to: Annotated[Path, typer.Option(metavar="FILE", help="Where the record goes.")],
) -> None:
    """Write a result without its samples, for documents to quote."""
    from tandem.experiment.record import record_of

    text = record_of(read_result(result), str(result))
    check_outputs([to], [result])
    write_text(to, text)


@app.command()
def quote(
    documents: Annotated[list[Path], typer.Argument(metavar="FILE.md", help="Documents.")],
    check_: Annotated[
        bool, typer.Option("--check", help="Change nothing; status 1 where one differs.")
    ] = False,
) -> None:
    """Make the tables of documents anew from recorded results."""
    from tandem.experiment.quote import quoted

    made = [(path, quoted(path)) for path in documents]
    old = [str(path) for path, text in made if text != read_text(path)]
    if check_:
        if old:
            raise CheckMissed(f"not what its record says: {', '.join(old)}; run without --check")
        return
    for path, text in made:
        if str(path) in old:
            write_text(path, text)


def main(arguments: Sequence[str]) -> int:
    """Runs the command line; the exit status. Every error is one line on standard error."""
    return guarded(_PROGRAM, lambda: _run(arguments))


def _run(arguments: Sequence[str]) -> int:
    try:
        status = app(args=list(arguments), prog_name=_PROGRAM, standalone_mode=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except typer.Abort as error:
        raise KeyboardInterrupt from error
    except (TandemError, OSError, RecursionError, MemoryError):
        raise
    except Exception as error:
        # Usage errors; typer brings its own copy of click in some versions, so by shape.
        message = getattr(error, "format_message", None)
        if message is None:
            raise
        text = message().strip().rstrip(".")
        text = text[:1].lower() + text[1:] if text[1:2].islower() else text
        return answer(_PROGRAM, f"{text}; see {_PROGRAM} --help", 2)

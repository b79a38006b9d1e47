# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs that are none, outputs that are inputs, signals: one line, and nothing half-written."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import HERE, Harness

from tandem.errors import FormatError, UserError
from tandem.files import check_outputs, printable, read_text, write_text
from tandem.formats.documents import parse_json, parse_toml

TINY = (HERE / "tiny.toml").read_text(encoding="utf-8")
TOML = {
    "dotted key": "a" + ".a" * 100_000 + " = 1\n",
    "dotted header": "[a" + ".a" * 100_000 + "]\n",
    "lists": "version = 1\na = " + "[" * 1_000 + "\n",
    "tables": "a = " + "{a = " * 100_000 + "\n",
    "header": "[$x]\n",
    "size": "# " + "x" * (4 << 20) + "\n",
}
LAUNCHER = Path(os.environ["TANDEM_BUILD"]) / "bin" / "tandem"


@pytest.mark.parametrize("kind", TOML)
def test_toml(tmp_path: Path, harness: Harness, kind: str) -> None:
    file = tmp_path / "x.toml"
    file.write_text(TOML[kind])
    for words in (("run", file), ("run", "--published", file, HERE / "tiny.toml")):
        done = harness(*words)
        assert done.returncode == 2
        assert done.stderr.startswith(f"tandem experiment: {file}:")
        assert done.stderr.count("\n") == 1


def test_what_is_in_strings_and_comments_has_no_depth() -> None:
    many = "[{." * 100
    text = f'a = "{many}\\"{many}" # {many}\nb = \'\'\'\n{many}\'\'\'\nc = """\n{many}"""\n'
    assert parse_toml(text + f"[x.'{many}']\n", "f")["c"] == many
    for broken in ('"' * 99, "'" * 99, '"""' + '""\\' * 999, "a = '" + many):
        with pytest.raises(FormatError, match=r"^f"):
            parse_toml(broken, "f")


def test_json(tmp_path: Path, harness: Harness) -> None:
    deep = '{"a": ' * 100_000
    with pytest.raises(FormatError, match="nested too deeply"):
        parse_json(deep, "f")
    with pytest.raises(FormatError, match="more than 10000000 values"):
        parse_json("[" + "0," * 10_000_001 + "0]", "f")
    file = tmp_path / "r.json"
    for text in (deep, '{"a": ' * 900 + "1" + "}" * 900, "[]", "\0", '{"version": 1}'):
        file.write_text(text)
        done = harness("show", file)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_files_that_never_end_are_not_read() -> None:
    with pytest.raises(UserError, match="has more than 100 bytes"):
        read_text(Path("/dev/zero"), 100)


def test_names_are_shown_without_their_control_characters(harness: Harness) -> None:
    assert printable("a\x1b\u009b\u202e\n\t\udcff\x7fü") == "a\\x1b\\u009b\\u202e\\n\\t\\xff\\x7fü"
    done = harness("run", "no\x1b[2J\nfile.toml")
    assert done.returncode == 2
    assert "no\\x1b[2J" in done.stderr
    assert "\x1b" not in done.stderr


def test_titles_are_shown_so_too(harness: Harness, tmp_path: Path) -> None:
    file = tmp_path / "tiny.toml"
    title = next(x for x in TINY.splitlines() if x.startswith("title = "))
    file.write_text(TINY.replace(title, 'title = "evil\\u001b[2J\\u202e"'))
    done = harness(
        "run", file, "--source", HERE.parent, "--published", HERE / "published.toml",
        "--results", tmp_path, "--no-plots",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "evil\\x1b[2J\\u202e" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr


def test_outputs_replace_no_input(tmp_path: Path, harness: Harness) -> None:
    file = tmp_path / "tiny.toml"
    published = tmp_path / "published.toml"
    for path, text in ((file, TINY), (published, (HERE / "published.toml").read_text())):
        path.write_text(text)
    (tmp_path / "link.json").symlink_to(file)
    os.link(published, tmp_path / "hard.json")
    before = {x: x.read_bytes() for x in (file, published)}
    run = ("run", file, "--published", published, "--source", HERE.parent, "--no-plots", "--json")
    for output in (file, published, tmp_path / "link.json", tmp_path / "hard.json"):
        done = harness(*run, output)
        assert done.returncode == 2
        assert f"{output}: is an input, and would be overwritten" in done.stderr
    done = harness("run", file, file, "--published", published, "--results", tmp_path, "--no-plots")
    assert (done.returncode, "two outputs" in done.stderr) == (2, True)
    assert {x: x.read_bytes() for x in (file, published)} == before


def test_outputs_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "to-out").symlink_to("out")
    check_outputs([tmp_path / "out", Path("/dev/null"), Path("/dev/null")], [tmp_path / "gone"])
    for other in ("out", "../" + tmp_path.name + "/out", "to-out"):
        with pytest.raises(UserError, match="two outputs"):
            check_outputs([tmp_path / "out", tmp_path / other], [])


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    write_text(Path("/dev/null"), "nothing")


def test_links_of_others_are_not_followed(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("makes a link of another user, which takes root")
    folder = tmp_path / "tmp"
    folder.mkdir()
    folder.chmod(0o1777)
    (tmp_path / "victim").write_text("mine")
    for name, target in (("evil", "../victim"), ("new", "../nothing"), ("folder", "..")):
        (folder / name).symlink_to(target)
        os.lchown(folder / name, 65534, 65534)
    for name in ("evil", "new", "folder/victim"):
        with pytest.raises(UserError, match="a link of another user"):
            write_text(folder / name, "x")
    assert (tmp_path / "victim").read_text() == "mine"
    assert sorted(x.name for x in folder.iterdir()) == ["evil", "folder", "new"]


def test_a_limit_of_file_sizes_is_one_line(tiny: Harness, tmp_path: Path) -> None:
    small = (2048, resource.RLIM_INFINITY)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, small)  # a child inherits it
    try:
        done = tiny()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("tandem experiment: ")
    assert "file too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "tiny.json").exists()


def launched(*arguments: str | Path, delay_s: float, number: int) -> tuple[int, str]:
    """The launcher's status and standard error, with a signal after a while."""
    process = subprocess.Popen(
        [str(LAUNCHER), "experiment", *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(delay_s)
    process.send_signal(number)
    _, errors = process.communicate(timeout=300)
    return process.returncode, errors


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_at_any_time_show_no_traceback(tmp_path: Path, number: int) -> None:
    """The times only choose what is interrupted: the start, the modules, the run or the end."""
    arguments = (
        "run", HERE / "tiny.toml", "--source", HERE.parent, "--fresh", "--no-plots",
        "--published", HERE / "published.toml", "--results", tmp_path, "--no-progress",
    )  # fmt: skip
    for step in range(12):
        status, errors = launched(*arguments, delay_s=step * step * 0.02, number=number)
        assert "Traceback" not in errors
        assert errors.count("\n") <= 1, errors
        assert status in (0, 130, -number), (status, errors)
        partial = [x.name for x in tmp_path.iterdir() if re.search(r"\.part$", x.name)]
        assert partial == []
        if (tmp_path / "tiny.json").exists():
            json.loads((tmp_path / "tiny.json").read_text(encoding="utf-8"))


def test_an_ignored_interrupt_stays_ignored(tmp_path: Path) -> None:
    script = (
        "import signal, subprocess, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); "
        f"p = subprocess.Popen([{str(LAUNCHER)!r}, 'experiment', 'list']); "
        "p.send_signal(signal.SIGINT); sys.exit(p.wait())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")

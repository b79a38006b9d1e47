# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs that are none: one line and status 2, within the time and the memory of any other."""

from __future__ import annotations

import json
import os
import resource
import subprocess
from pathlib import Path

import pytest
from conftest import DATA, Tandem

BUILD = Path(os.environ["TANDEM_BUILD"])
SOURCE = "static int n; __attribute__((atomic)) void f(void) { n++; } int main(void) { f(); }\n"
MEMORY = 1 << 30  # bytes; the document below would take three times as much

TOML = {
    "header": "[$x]\n",
    "header of a list": "version = 1\n[[ ?]]\n",
    "dotted key": "a" + ".a" * 100_000 + " = 1\n",
    "dotted header": "[a" + ".a" * 100_000 + "]\n",
    "lists": "a = " + "[" * 100_000 + "\n",
    "tables": "a = " + "{a = " * 100_000 + "\n",
    "size": "# " + "x" * (4 << 20) + "\n",
}
# Each command that reads TOML, where `{}` is the file.
READERS = {
    "catalogue": ("analyze", "--catalogue", "{}", "x.c"),
    "rewrite's catalogue": ("rewrite", "--catalogue", "{}", "x.c"),
    "suppressions": ("analyze", "--suppress", "{}", str(DATA / "server.json")),
    "machine": ("machine", "run", "-p", "flask", "-w", "locks", "-c", "{}"),
    "listed machine": ("machine", "list", "--config", "{}"),
    "workload": ("machine", "run", "-p", "flask", "-w", "{}"),
    "experiment": ("experiment", "run", "{}"),
    "published values": ("experiment", "run", "--published", "{}", "figure2"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "x.c").write_text(SOURCE)
    return tmp_path


@pytest.mark.parametrize("kind", TOML)
@pytest.mark.parametrize("reader", READERS)
def test_toml(tandem: Tandem, folder: Path, reader: str, kind: str) -> None:
    (folder / "x.toml").write_text(TOML[kind])
    words = [word.replace("{}", "x.toml") for word in READERS[reader]]
    assert "x.toml:" in tandem.mistake(*words, folder=folder)


@pytest.mark.parametrize("option", ["-ftandem-catalogue=", "-ftandem-convert="])
def test_toml_of_the_compiler(folder: Path, option: str) -> None:
    for text in TOML.values():
        (folder / "x.toml").write_text(text)
        command = [str(BUILD / "bin/tandem-cc"), f"{option}x.toml", "x.c", "-o", "x"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert done.stderr.startswith("tandem-cc: x.toml:")


def test_settings(tandem: Tandem) -> None:
    for setting in ("[$x]=1", "a" + ".a" * 50_000 + "=1", "a=" + "[" * 50_000):
        run = ("machine", "run", "-p", "flask", "-w", "locks", "--set", setting)
        assert tandem.mistake(*run).startswith("tandem machine run: --set ")


JSON = {
    "list": ("[" + "0," * 50_000_000 + "0]", "must be an object, not array"),
    "numbers": (
        '{"version": 1, "run": {}, "sections": [' + "0," * 50_000_000 + "0]}",
        "a list of more than 4096 numbers",
    ),
    "objects": (
        '{"version": 1, "run": {}, "sections": [' + "{}," * 33_000_000 + "{}]}",
        "would take more than 1024 MiB of memory",
    ),
    "depth": ('{"a": ' * 100_000, "nested more than 64 deep"),
}
JSON_READERS = {
    "report": ("analyze", "x.json"),
    "profile": ("report", "x.json"),
    "locks": ("analyze", "--suggest", "out", "--profile", "x.json", str(DATA / "server.json")),
}


@pytest.mark.parametrize("kind", JSON)
def test_json(tandem: Tandem, folder: Path, kind: str) -> None:
    text, message = JSON[kind]
    (folder / "x.json").write_text(text)
    readers = JSON_READERS if kind in ("list", "depth") else {"report": JSON_READERS["report"]}
    for words in readers.values():
        assert message in tandem.mistake(*words, folder=folder)


def test_a_list_of_100_mb_is_refused_at_once(tandem: Tandem, folder: Path) -> None:
    (folder / "x.json").write_text(JSON["numbers"][0])
    done = subprocess.run(
        [str(BUILD / "bin/tandem"), "report", "x.json"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr


def test_compile_commands(tandem: Tandem, folder: Path) -> None:
    for text in ("{}", "[" + "0," * 10_000_000 + "0]", "[" * 100_000):
        (folder / "compile_commands.json").write_text(text)
        message = tandem.mistake("analyze", "-p", ".", folder=folder)
        assert message.startswith("tandem analyze: ./compile_commands.json: ")


def test_what_never_ends(tandem: Tandem, folder: Path) -> None:
    """A device that gives bytes for ever is no file of ours."""
    (folder / "x.json").symlink_to("/dev/zero")
    (folder / "x.toml").symlink_to("/dev/zero")
    assert "has more than" in tandem.mistake("report", "x.json", folder=folder)
    run = ("machine", "run", "-p", "flask", "-w", "locks", "-c", "x.toml")
    assert "has more than" in tandem.mistake(*run, folder=folder)


OUTPUTS = ("--json", "--html", "--sarif", "--svg", "--dot", "--suggest")


@pytest.mark.parametrize("option", OUTPUTS)
def test_analyze_replaces_no_input(tandem: Tandem, folder: Path, option: str) -> None:
    (folder / "h.h").write_text("static int n;\n")
    (folder / "x.c").write_text('#include "h.h"\n' + SOURCE.replace("static int n; ", ""))
    (folder / "s.toml").write_text("")
    (folder / "link").symlink_to("x.c")
    os.link(folder / "x.c", folder / "hard.c")
    report = folder / "r.json"
    report.write_text((DATA / "server.json").read_text())
    before = {x: x.read_bytes() for x in folder.iterdir()}
    for output, words in (
        ("x.c", ("x.c",)),
        ("../" + folder.name + "/x.c", ("x.c",)),
        ("link", ("x.c",)),
        ("x.c", ("hard.c",)),
        ("h.h", ("x.c",)),
        ("s.toml", ("--suppress", "s.toml", "x.c")),
        ("r.json", ("r.json",)),
    ):
        message = tandem.mistake("analyze", option, output, *words, folder=folder)
        assert f"{output}: is an input, and would be overwritten" in message
    assert {x: x.read_bytes() for x in folder.iterdir()} == before


def test_databases_are_inputs_and_so_is_what_they_name(tandem: Tandem, folder: Path) -> None:
    entry = {"directory": str(folder), "file": "x.c", "command": "cc -c x.c"}
    (folder / "compile_commands.json").write_text(json.dumps([entry]))
    for output in ("x.c", "compile_commands.json"):
        words = ("analyze", "-p", ".", "--json", output)
        assert "is an input" in tandem.mistake(*words, folder=folder)


def test_other_commands_replace_no_input(tandem: Tandem, folder: Path) -> None:
    (folder / "p.json").write_text("{}")
    (folder / "c.toml").write_text("version = 1\n")
    before = {x: x.read_bytes() for x in folder.iterdir()}
    for words in (
        ("report", "--html", "p.json", "p.json"),
        ("rewrite", "--json", "x.c", "--output-dir", ".", "x.c"),
        ("rewrite", "--json", "c.toml", "--catalogue", "c.toml", "--output-dir", "/tmp", "x.c"),
    ):
        tandem.mistake(*words, folder=folder)
    for arguments in (["x.c", "-o", "x.c"], ["x.c", "-c", "-o", "./x.c"], [
        "-ftandem-report=x.c", "x.c", "-o", "x"
    ], ["-ftandem-catalogue=c.toml", "-ftandem-report=c.toml", "x.c", "-o", "x"]):  # fmt: skip
        command = [str(BUILD / "bin/tandem-cc"), *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "is an input, and would be overwritten" in done.stderr
    assert {x: x.read_bytes() for x in folder.iterdir()} == before


def test_a_limit_of_file_sizes_is_an_error(tandem: Tandem, folder: Path) -> None:
    """SIGXFSZ would leave a dump, and half of the file."""
    command = [str(BUILD / "bin/tandem"), "analyze", str(DATA / "server.json"), "--html", "out"]
    done = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
    )
    assert (done.returncode, done.stderr) == (
        2,
        "tandem analyze: out: cannot be written: File too large\n",
    )
    assert [x.name for x in folder.iterdir()] == ["x.c"]


def test_a_name_cannot_write_to_the_terminal(tandem: Tandem, folder: Path) -> None:
    report = json.loads((DATA / "server.json").read_text())
    name = "evil\x1b]0;title\x07\u009b31m\u202ename\nline"
    text = json.dumps(report)
    old = report["sections"][0]["name"]
    (folder / "r.json").write_text(text.replace(json.dumps(old), json.dumps(name)))
    for words in (("r.json", "--all"), ("r.json", "--section", name)):
        seen = tandem.on_terminal(200, "analyze", str(folder / words[0]), *words[1:])
        for character in ("\x1b]", "\x07", "\u009b", "\u202e"):
            assert character not in seen
        assert "evil\\x1b]0;title\\x07\\u009b31m\\u202ename\\nline" in seen
    message = tandem.mistake("analyze", "no\x1b[2Jfile.c", folder=folder)
    assert "no\\x1b[2Jfile.c" in message
    done = subprocess.run(
        [str(BUILD / "bin/tandem-cc"), "-ftandem-enforce=\x1b[2J", "x.c"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "\\x1b[2J" in done.stderr

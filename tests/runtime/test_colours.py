# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sections with colours in a program and its plugin, as compiled outputs have them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import ALGORITHMS, LIBRARY, ROOT, GnuTm

FOLDER = Path(__file__).parent / "colours"


def build(gnu_tm: GnuTm, source: str, *options: str) -> Path:
    program = gnu_tm.folder / f"colours-{source}"
    name = program.name
    if not program.exists():
        subprocess.run(
            ["gcc", "-O2", "-Wall", "-Werror", "-pthread", f'-DOUTPUT_NAME="{name}"',
             f"-I{ROOT / 'include'}", str(FOLDER / source), "-o", str(program), *options,
             f"-L{LIBRARY}", f"-Wl,-rpath,{LIBRARY}", "-ltandem", "-ltandem_tm", "-ldl"],
            check=True,
        )  # fmt: skip
    return program


@pytest.fixture
def plugin(gnu_tm: GnuTm) -> Path:
    return build(gnu_tm, "plugin.c", "-shared", "-fPIC")


@pytest.fixture
def program(gnu_tm: GnuTm) -> Path:
    return build(gnu_tm, "process.c")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_plugin_shares_the_processs_colours(
    gnu_tm: GnuTm, program: Path, plugin: Path, algorithm: str
) -> None:
    outcome = gnu_tm.run(program, str(plugin), algorithm=algorithm)
    assert (outcome.status, outcome.output) == (0, "")


def profile_of(gnu_tm: GnuTm, program: Path, plugin: Path, path: Path) -> Any:
    environment = {"TANDEM_PROFILE": str(path)}
    outcome = gnu_tm.run(program, str(plugin), algorithm="norec", environment=environment)
    assert (outcome.status, outcome.output) == (0, "")
    profile = json.loads(path.read_text(encoding="utf-8"))
    schema = json.loads((ROOT / "docs/formats/profile.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(profile, schema)
    return profile


def test_the_profile_names_sections_and_colours(
    gnu_tm: GnuTm, program: Path, plugin: Path, tmp_path: Path
) -> None:
    profile = profile_of(gnu_tm, program, plugin, tmp_path / "profile.json")
    # The plugin is loaded five times; where it then lies elsewhere, its sections are others, and
    # their names say where they begin.
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for section in profile["sections"]:
        key = (section["output"], section["name"].partition("@")[0])
        same = found.setdefault(key, section)
        assert same is section or section["output"] == plugin.name
        if same is not section:
            same["commits"] += section["commits"]
    assert set(found) == {
        (program.name, "exclusive"),
        (program.name, "hybrid"),
        (program.name, "pure"),
        (plugin.name, "exclusive"),
        (plugin.name, "hybrid"),
    }
    exclusive = found[program.name, "exclusive"]
    assert (exclusive["kind"], exclusive["class"], exclusive["line"]) == (
        "function",
        "non-revocable",
        11,
    )
    assert exclusive["colours"] == ["tandem.shared", "A"]
    assert exclusive["commits"] == 300
    assert [entry["cause"] for entry in exclusive["serialisations"]] == ["irrevocable-begin"]
    assert found[plugin.name, "exclusive"]["commits"] == 1500
    hybrid = found[program.name, "hybrid"]
    assert (hybrid["kind"], hybrid["class"], hybrid["line"]) == ("block", "hybrid", 22)
    assert hybrid["commits"] == 300
    pure = found[program.name, "pure"]
    assert (pure["kind"], pure["class"], pure["colours"]) == ("lambda", "pure", [])
    for section in profile["sections"]:
        # Who holds "A" has taken "tandem.shared" before, so holders never wait for it; a
        # transaction that shares both looks at one after the other and may find "A" held again.
        waited = {"exclusive": {"tandem.shared"}, "hybrid": {"tandem.shared", "A"}, "pure": set()}
        assert {wait["colour"] for wait in section["colour_waits"]} <= waited[
            section["name"].partition("@")[0]
        ]


def test_waits_are_counted_by_colour(
    gnu_tm: GnuTm, program: Path, plugin: Path, tmp_path: Path
) -> None:
    # Two threads and two outputs on one colour: with so many sections some have to wait.
    for attempt in range(20):
        profile = profile_of(gnu_tm, program, plugin, tmp_path / f"{attempt}.json")
        waits = [wait for section in profile["sections"] for wait in section["colour_waits"]]
        if waits:
            assert all(wait["count"] > 0 and wait["waiting_ns"] > 0 for wait in waits)
            report = subprocess.run(
                [str(LIBRARY.parent / "libexec/tandem-report"), str(tmp_path / f"{attempt}.json")],
                env=os.environ | {"COLUMNS": "200"},
                capture_output=True,
                text=True,
                check=True,
            )
            assert "Colours" in report.stdout
            assert "tandem.shared" in report.stdout
            return
    pytest.fail("no section of 20 runs waited for a colour")

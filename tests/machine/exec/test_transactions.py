# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hardware transactions of `tandem machine exec`, as a user meets them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from cross import SOURCE, compiled

BUILD = Path(os.environ["TANDEM_BUILD"])
MACHINE = BUILD / "libexec" / "tandem-machine"
REPORT = BUILD / "libexec" / "tandem-report"


@pytest.fixture(scope="module")
def structures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("structures")
    return compiled(folder, SOURCE / "workloads" / "metatm" / "structures.c")


def execute(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(MACHINE), "exec", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def counted(file: Path, *words: str | Path) -> dict[str, Any]:
    done = execute("--harts", "4", "--tx-limit", "8", "--json", file, *words)
    assert (done.returncode, done.stdout, done.stderr) == (0, "right\n", "")
    result: dict[str, Any] = json.loads(file.read_text())
    return result


@pytest.mark.parametrize("structure", ["counter", "list", "tree", "hash"])
@pytest.mark.parametrize("way", [(), ("--protocol", "mesi-snoop"), ("--protocol", "flask")])
def test_structures_stay_right(
    structures: Path, tmp_path: Path, structure: str, way: tuple[str, ...]
) -> None:
    words: list[str | Path] = [*way, structures, structure, "htm", "4", "40"]
    result = counted(tmp_path / "out.json", *words)
    counts = result["transactions"]
    assert counts["transactions"] >= 160
    assert counts["commits"] + counts["fallbacks"] == counts["transactions"]
    assert sum(counts["sizes"]["bytes"]) == counts["commits"]
    assert sum(site["commits"] for site in counts["sites"]) == counts["commits"]
    assert any(site["site"].startswith(("run", "operate", "enter")) for site in counts["sites"])


def test_the_profile_is_one(structures: Path, tmp_path: Path) -> None:
    file = tmp_path / "profile.json"
    words: list[str | Path] = ["--protocol", "mesi-snoop", "--profile", file]
    words += [structures, "counter", "htm", "4", "50"]
    result = counted(tmp_path / "out.json", *words)
    profile = json.loads(file.read_text())
    schema = json.loads((SOURCE / "docs/formats/profile.schema.json").read_text())
    jsonschema.validate(profile, schema)
    commits = 0
    for section in profile["sections"]:
        aborts = sum(abort["count"] for abort in section["aborts"])
        assert section["starts"] == section["commits"] + aborts + section["unfinished"]
        for name in ("retries", "read_set", "write_set"):
            assert sum(section[name]["counts"]) == section["commits"]
        assert section["time"]["waiting_ns"] <= section["time"]["section_ns"]
        commits += section["commits"]
    assert commits == result["transactions"]["commits"]
    shown = subprocess.run([str(REPORT), str(file)], capture_output=True, text=True, check=True)
    assert profile["sections"][0]["name"] in shown.stdout
    assert "htm" in shown.stdout


@pytest.mark.parametrize("protocol", ["mesi-snoop", "sparse-directory", "mosaic", "flask"])
def test_tables_that_refuse(structures: Path, tmp_path: Path, protocol: str) -> None:
    words: list[str | Path] = ["--protocol", protocol]
    words += ["--set", f"options.{protocol}.transactions=true"]
    words += [structures, "list", "htm", "4", "40"]
    result = counted(tmp_path / "out.json", *words)
    assert result["timing"]["run"]["counts"]["cores"]["refused"] > 0
    assert result["transactions"]["conflicts"]


def test_options_without_a_protocol(structures: Path, tmp_path: Path) -> None:
    words = ["--set", 'htm.policy="karma"', "--set", "htm.stall=true"]
    result = counted(tmp_path / "out.json", *words, structures, "list", "htm", "4", "30")
    assert result["transactions"]["policy"] == "karma"
    assert result["transactions"]["stall"] is True


def test_mistakes_of_the_user(structures: Path) -> None:
    for setting, complaint in (
        ('htm.policy="stall"', "polite"),
        ("htm.retry_cycles=0", "retry_cycles"),
        ("htm.colour=1", "colour"),
    ):
        done = execute("--set", setting, structures, "list", "htm", "1", "1")
        assert done.returncode == 2
        assert complaint in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_the_broken_rule_is_named(tmp_path: Path) -> None:
    source = tmp_path / "broken.c"
    source.write_text('#include "tandem/machine.h"\nint main(void) { tandem_xend(); return 0; }\n')
    done = execute(compiled(tmp_path, source))
    assert done.returncode == 3
    first, second = done.stderr.splitlines()
    assert "(main" in first
    assert first.endswith("xend outside of a transaction: illegal instruction")
    assert "illegal instruction" in second
    assert "SIGILL" in second

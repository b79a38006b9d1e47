# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tandem machine run --boot`: the default image's kernel as a workload; here it is our guest."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from guests import MACHINE, TIMEOUT_S

SMALL = ("--config", "small", "--set", "cores=3", "--set", "network.columns=0")


@pytest.fixture(scope="module")
def cache(guest: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where images are looked for."""
    folder = tmp_path_factory.mktemp("cache")
    image = folder / "tandem/images/linux"
    image.mkdir(parents=True)
    for name in ("Image", "vmlinux"):
        (image / name).symlink_to(guest)
    (image / "initrd.cpio").write_bytes(bytes(4096))
    return folder


def run(cache: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(MACHINE), "run", *SMALL, *map(str, words)],
        capture_output=True, text=True, check=False, timeout=TIMEOUT_S,
        env={**os.environ, "XDG_CACHE_HOME": str(cache)},
    )  # fmt: skip


@pytest.mark.parametrize("model", ["in-order", "window"])
def test_results_are_those_of_other_workloads(cache: Path, model: str) -> None:
    words = ("-p", "flask", "--set", f"hart.model={model}", "--boot", "harts", "--whole")
    done = run(cache, *words, "--json", "-")
    assert done.returncode == 0, done.stderr
    assert "harts 3, counted 3000, interrupted 2" in done.stderr
    result = json.loads(done.stdout)
    (one,) = result["runs"]
    assert (one["workload"], one["complete"]) == ("harts", True)
    assert one["instructions"] > 0
    assert result["metrics"]["cycles"]["mean"] == one["cycles"] > 3000
    again = json.loads(run(cache, *words, "--check-values", "--json", "-").stdout)["runs"][0]
    assert [again[name] for name in ("cycles", "instructions")] == [
        one[name] for name in ("cycles", "instructions")
    ]


def test_a_disk_is_the_guests(cache: Path, disk: Path) -> None:
    words = ("-p", "sparse-directory", "--boot", "disk", "--whole", "--disk", f"{disk},ro")
    done = run(cache, *words, "--json", "-")
    assert done.returncode == 0, done.stderr
    devices = json.loads(done.stdout)["runs"][0]["counts"]["devices"]
    assert devices["reads"] + devices["writes"] > 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--boot", "exit 3", "--whole"], "--boot: ended with status 3"),
        (["--boot", "crash", "--whole"], "--boot: the guest crashed"),
        (["--boot", "panic", "--whole"], "--boot: the kernel panicked"),
        (["--boot", "harts"], "nothing was measured"),
        (["--boot", "harts", "--disk", "nothing"], "nothing: cannot be read"),
        (["--boot", 'say "so"'], "must not have a double quote"),
        (["--boot", "harts", "-w", "mixed"], "one of --workload"),
        (["-w", "mixed", "--disk", "nothing"], "say --boot COMMAND"),
    ],
)
def test_mistakes_are_told(cache: Path, tmp_path: Path, words: list[str], message: str) -> None:
    json_file = tmp_path / "out.json"
    done = run(cache, "-p", "flask", *words, "--json", json_file)
    assert done.returncode == 2
    assert message in done.stderr.splitlines()[-1]
    assert not json_file.exists()


def test_without_an_image(tmp_path: Path) -> None:
    done = run(tmp_path, "-p", "flask", "--boot", "harts")
    assert done.returncode == 2
    assert "build it once by: tandem machine image linux" in done.stderr.splitlines()[-1]

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The replay's clients notice every wrong answer of a server, and nothing else."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
REPLAY = ROOT / "workloads/memcached/replay"
FAULTS = {
    "torn": "a torn value",
    "lost-increment": "counter",
    "other-key": "a value of another key",
    "short": "bytes that was stored with",
    "stale": "where",
    "undeleted": "is there after it was deleted",
    "no-answer": "",
    "lost": "is lost",
}
SEED = random.SystemRandom().randrange(1 << 31)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("replay") / "server"
    sources = [Path(__file__).parent / "replay/server.c", REPLAY / "client.c"]
    flags = [
        "-std=gnu11",
        "-O1",
        "-g",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-fsanitize=address,undefined",
    ]
    command = ["gcc", *flags, f"-I{ROOT / 'workloads'}", *map(str, sources), "-o", str(program)]
    subprocess.run([*command, "-lm"], check=True)
    return program


def run(server: Path, fault: str) -> subprocess.CompletedProcess[str]:
    command = [str(server), fault, str(SEED)]
    # Clients live as long as their process.
    environment = os.environ | {"ASAN_OPTIONS": "detect_leaks=0"}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=60, env=environment
    )


def test_a_right_server(server: Path) -> None:
    done = run(server, "none")
    assert done.returncode == 0, f"seed {SEED}: {done.stderr}"
    # Two clients' operations, and what they store before.
    assert int(done.stdout.split()[0]) > 2 * 4000


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_answer(server: Path, fault: str) -> None:
    done = run(server, fault)
    assert done.returncode == 1, f"seed {SEED}: {done.stdout}{done.stderr}"
    assert FAULTS[fault] in done.stderr, f"seed {SEED}"
    assert len(done.stderr.splitlines()) == 1

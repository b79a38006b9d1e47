# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The workload Prime, which checks its own result: `primes` must be what one thread counts."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from conftest import MODES, Compilers

BUILD = Path(__file__).parents[2] / "workloads" / "prime" / "build.sh"
NUMBERS = 20000


@pytest.fixture(scope="module")
def prime(compilers: Compilers) -> Path:
    folder = compilers.folder / "prime"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TANDEM_")}
    environment["TANDEM_CC"] = str(compilers.build / "bin" / "tandem-cc")
    subprocess.run([str(BUILD), str(folder)], env=environment, check=True, capture_output=True)
    return folder


@pytest.mark.parametrize("threads", [1, 2, 4, 8])
@pytest.mark.parametrize("variant", MODES)
def test_all_variants_count_the_same(
    compilers: Compilers, prime: Path, variant: str, threads: int
) -> None:
    counts = []
    for name, count in (("sequential", 1), (variant, threads)):
        outcome = compilers.run(
            prime / f"prime-{name}",
            *("--threads", count, "--numbers", NUMBERS, "--seed", 7, "--json", prime / "result"),
        )
        assert outcome.status == 0, outcome
        counts.append(json.loads((prime / "result").read_text(encoding="utf-8"))["primes"])
    assert counts[0] == counts[1] > 0


@pytest.mark.parametrize("threads", [2, 4])
@pytest.mark.parametrize("variant", MODES)
def test_the_status_thread_is_not_starved(
    compilers: Compilers, prime: Path, variant: str, threads: int
) -> None:
    """Its section waits for all the others, which come without a pause."""
    outcome = compilers.run(
        prime / f"prime-{variant}",
        *("--threads", threads, "--numbers", 20 * NUMBERS, "--interval", 1),
        *("--json", prime / "result"),
    )
    assert outcome.status == 0, outcome
    result = json.loads((prime / "result").read_text(encoding="utf-8"))
    assert result["status_reports"] >= 5

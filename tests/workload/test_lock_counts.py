# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is counted as a lock of memcached's, with programs that only write what a run leaves."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tandem.errors import CommandError
from tandem.workload.replay import LOADS, count_locks, print_locks

# Takes the place of memcached under the clients: says that it answered 100 operations.
PROGRAM = """#!/bin/sh
output=${TANDEM_REPLAY##*output=}
echo '{"operations": 100}' > "$output"
[ "$TANDEM_HYBRID" = transactions ] || exit 1
case "$LD_PRELOAD" in *" "*/profiler.so) cp "$0.json" "$TANDEM_LOCK_PROFILE" ;; esac
"""


def fake(folder: Path, name: str, acquisitions: dict[str, int]) -> Path:
    """A program whose locks, by output, are acquired so often."""
    program = folder / name
    program.write_text(PROGRAM, encoding="utf-8")
    program.chmod(0o755)
    locks = [{"object": {"output": x}, "acquisitions": n} for x, n in acquisitions.items()]
    (folder / f"{name}.json").write_text(json.dumps({"locks": locks}), encoding="utf-8")
    return program


def count(programs: dict[str, Path], folder: Path) -> list[float]:
    counts = count_locks(
        programs,
        folder / "libreplay.so",
        folder / "profiler.so",
        LOADS["speed"],
        threads=(1,),
        operations=100,
        seed=1,
        environment=os.environ,
    )
    print_locks(counts)
    return [x.per_operation for x in counts]


# The fakes are shell scripts, and the loader complains of libraries that are not there.
@pytest.fixture(autouse=True)
def _libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_locks_of_the_program_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stock = fake(tmp_path, "stock", {"/x/memcached": 1100, "/lib/libevent-2.1.so.7": 100})
    others = {"/x/libreplay.so": 999, "/l/libtandem.so.0": 99, "/l/libitm.so.1": 9}
    converted = fake(tmp_path, "converted", {"/x/memcached": 3, **others})
    assert count({"gcc": stock, "stm": converted}, tmp_path) == [12.0, 0.03]
    assert "99.75 %" in capsys.readouterr().out


def test_profile_that_is_none_is_an_error(tmp_path: Path) -> None:
    program = fake(tmp_path, "stock", {})
    (tmp_path / "stock.json").write_text("{}", encoding="utf-8")
    with pytest.raises(CommandError, match="is not a profile of locks"):
        count({"gcc": program}, tmp_path)

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a file of memcached's suite that fails, or skips, makes of the suite, in every variant."""

from __future__ import annotations

import pytest
from tandem.workload.cli import print_suite
from tandem.workload.suite import SuiteResult, read_prove
from tandem.workload.variants import VARIANTS

FILE = "t/chunked-extstore.t"


def suite(status: int, *lines: str) -> SuiteResult:
    result = SuiteResult(testapp_ok=1, status=status)
    read_prove([*lines, f"Files={len(lines)}, Tests=7,  1 wallclock secs"], result)
    return result


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_file_fails(variant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert not print_suite(suite(1, f"{FILE} .. Failed 3/224 subtests"), variant)
    assert f"FAILED: {FILE}: Failed 3/224 subtests" in capsys.readouterr().out


def test_all_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert print_suite(suite(0, f"{FILE} .. ok"), "stm")
    assert "FAILED" not in capsys.readouterr().out


def test_a_file_skips_that_does_not_with_stock() -> None:
    assert list(suite(0, "t/cas.t .. skipped: why").problems()) == [
        "t/cas.t: skipped, which was not expected: why"
    ]

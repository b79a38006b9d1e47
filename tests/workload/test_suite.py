# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A file of memcached's suite that fails by design in some variants, and only there."""

from __future__ import annotations

import pytest
from tandem.workload.cli import print_suite
from tandem.workload.memcached import VARIANTS
from tandem.workload.suite import EXPECTED_FAILURES, SuiteResult, read_prove

FILE = "t/chunked-extstore.t"


def suite(variant: str, *lines: str) -> SuiteResult:
    result = SuiteResult(testapp_ok=1, status=1, may_fail=EXPECTED_FAILURES.get(variant, {}))
    read_prove([*lines, f"Files={len(lines)}, Tests=7,  1 wallclock secs"], result)
    return result


def test_the_variants_are_there() -> None:
    assert set(EXPECTED_FAILURES) <= set(VARIANTS)


@pytest.mark.parametrize("variant", VARIANTS)
def test_it_fails_as_expected(variant: str, capsys: pytest.CaptureFixture[str]) -> None:
    expected = variant in EXPECTED_FAILURES
    assert print_suite(suite(variant, f"{FILE} .. Failed 3/224 subtests"), variant) == expected
    assert f"{'failed, as expected' if expected else 'FAILED'}: {FILE}" in capsys.readouterr().out


def test_it_passes_unexpectedly(capsys: pytest.CaptureFixture[str]) -> None:
    result = suite("stm", f"{FILE} .. ok")
    result.status = 0
    assert print_suite(result, "stm")
    assert f"differs: {FILE}: was expected to fail and did not" in capsys.readouterr().out


def test_another_failure_beside_it() -> None:
    result = suite("stm", f"{FILE} .. Failed 3/224 subtests", "t/cas.t .. Failed 1/9 subtests")
    assert list(result.problems()) == ["t/cas.t: Failed 1/9 subtests"]

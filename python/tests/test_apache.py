# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parts of `tandem workload apache` that need no httpd."""

from __future__ import annotations

import urllib.request
from pathlib import Path

import pytest

from tandem.errors import CommandError
from tandem.workload import cli
from tandem.workload.apache import httpd
from tandem.workload.apache.checks import fetch
from tandem.workload.apache.load import zipf
from tandem.workload.apache.origin import contents, origin
from tandem.workload.apache.soak import SoakResult, print_soak
from tandem.workload.apache.steps import classes
from tandem.workload.apache.suite import Subject, SuiteResult, print_suite


def _suite(name: str, module: Path | None, lost: list[str], **checks: str | None) -> SuiteResult:
    subject = Subject(name, module, {})
    return SuiteResult(subject, required=3, runs=[{"a", "b"}], checks=dict(checks), lost=lost)


def test_a_suite_fails_for_what_is_ours_only(capsys: pytest.CaptureFixture[str]) -> None:
    shipped = _suite("socache", None, [], streams="MISS where HIT was expected")
    ours = _suite("hybrid", Path("m.so"), [], streams=None)
    assert print_suite([shipped, ours])
    assert "MISS where HIT" in capsys.readouterr().out
    assert not print_suite([shipped, _suite("hybrid", Path("m.so"), ["vary-match"])])
    assert "FAILED twice, passed with disk: vary-match" in capsys.readouterr().out
    assert not print_suite([_suite("hybrid", Path("m.so"), [], hits="wrong")])


def test_zipf_asks_for_the_first_most_often() -> None:
    order = zipf(100, 2.0, 5000, 1)
    assert set(order) <= set(range(1, 101))
    assert order.count(1) > 4 * order.count(2) * 0.7
    assert order.count(1) / 5000 == pytest.approx(0.611, abs=0.05)
    flat = zipf(100, 0.0, 5000, 1)
    assert flat.count(1) < 120


def test_an_origin_breaks_off_and_revalidates() -> None:
    with origin() as server:
        whole = fetch(server.port, "/page/5000/x")
        assert whole.body == contents("/page/5000/x", 5000)
        assert fetch(server.port, "/stream/70000/x").body == contents("/stream/70000/x", 70000)
        half = fetch(server.port, "/broken/5000/x")
        assert not half.complete
        assert half.body == contents("/broken/5000/x", 5000)[:2500]
        again = fetch(server.port, "/validate/x", {"If-None-Match": '"x"'})
        assert (again.status, again.body) == (304, b"")
        assert server.asked["/validate/x"] == 1
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(f"http://127.0.0.1:{server.port}/none", timeout=10)


def test_contents_differ_by_path() -> None:
    assert contents("/page/50/a", 50) != contents("/page/50/b", 50)
    assert len(contents("/x", 12345)) == 12345


@pytest.mark.parametrize("cache", ["none", "disk", "socache", "tandem"])
def test_a_configuration_listens_on_the_loopback_address_only(
    cache: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(httpd, "_modules_folder", lambda: tmp_path)
    module = tmp_path / "m.so" if cache == "tandem" else None
    text = httpd._configuration(httpd.Site(cache, module), tmp_path, 8000)
    assert [x for x in text.splitlines() if x.startswith("Listen")] == ["Listen 127.0.0.1:8000"]
    assert (f"CacheEnable {cache} /" in text) == (cache != "none")
    assert ("cache_tandem_module" in text) == (module is not None)


def test_a_soak_in_which_nothing_was_disturbed_fails(capsys: pytest.CaptureFixture[str]) -> None:
    result = SoakResult(seed=1, rounds=3, restarts=1, kills=1, hung_up=1)
    result.answers.update(HIT=5)
    assert not print_soak(result, "hybrid")
    assert "there was no revalidation" in capsys.readouterr().out
    result.answers.update(REVALIDATE=1)
    assert print_soak(result, "hybrid")
    result.wrong.append("/page/1: wrong")
    assert not print_soak(result, "hybrid")


def test_a_report_that_is_none(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text("{}", encoding="utf-8")
    with pytest.raises(CommandError, match="is no report"):
        classes(file)


def test_a_result_replaces_no_stream(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stream = tmp_path / "stream"
    stream.write_text("a\n", encoding="utf-8")
    for target, why in ((stream, "is an input"), (tmp_path, "is a directory")):
        assert cli.main(["apache", "replay", "--stream", str(stream), "--json", str(target)]) == 2
        told = capsys.readouterr()
        assert (told.out, told.err.count("\n")) == ("", 1)
        assert why in told.err
    assert stream.read_text(encoding="utf-8") == "a\n"

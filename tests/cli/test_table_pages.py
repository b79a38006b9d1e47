# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pages that are tables, in a real browser: a protocol's, and a profile's. Filter, keys, light."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser
from test_report_page import page as page_of
from test_report_page import section

TANDEM = Path(os.environ["TANDEM_BUILD"]) / "bin" / "tandem"
ROWS = "[...document.querySelectorAll('table:not(.matrix) tr')]"
SHOWN = f"{ROWS}.filter((x) => x.querySelector('td') && !x.hidden).length"
COLOURS = "document.documentElement.style.colorScheme"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("chromium")) as opened:
        yield opened


@pytest.fixture(scope="module", params=["tables", "profile"])
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    made = folder / "page.html"
    if request.param == "tables":
        command = [str(TANDEM), "machine", "tables", "mesi-snoop", "--html", str(made)]
        subprocess.run(command, check=True, capture_output=True)
    else:
        text = page_of(folder, section("f", 5, 10), section("g", 7, 20))
        made.write_text(text, encoding="utf-8")
    return made


def test_rows_are_filtered(browser: Browser, page: Path) -> None:
    browser.open(page)
    every = browser.run(SHOWN)
    assert every > 3
    browser.press("/")
    assert browser.run("document.activeElement.type") == "search"
    browser.run(
        "document.activeElement.value = 'no such row';"
        "document.activeElement.dispatchEvent(new Event('input'))"
    )
    assert browser.run(SHOWN) == 0
    assert browser.texts("output") == [f"0 of {every} rows"]
    browser.press("Escape")
    assert browser.run(SHOWN) == every
    assert browser.texts("output") == [""]
    assert browser.complaints == []
    assert [x for x in browser.requests if not x.startswith("file:")] == []


def test_light_and_dark(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.run(COLOURS) == ""
    seen = []
    for _ in range(2):
        browser.click("nav button")
        seen.append(browser.run(COLOURS))
    assert sorted(seen) == ["dark", "light"]

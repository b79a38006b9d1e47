# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The HTML page of `tandem analyze --html`, in a real browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Browser
from conftest import CACHE, Tandem, large_report


@pytest.fixture(scope="module")
def page(tandem: Tandem, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    file = folder / "cache & friends.html"
    tandem.output("analyze", CACHE / "cache.json", "--root", CACHE, "--html", file)
    return file


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("chromium")) as browser:
        yield browser


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Browser]:
    """Whatever a test does: nothing was fetched, and nothing went wrong in the page."""
    chromium.complaints.clear()
    chromium.requests.clear()
    yield chromium
    assert chromium.complaints == []
    pages = [url for url in chromium.requests if url != "about:blank"]
    assert len(pages) == 1
    assert pages[0].startswith("file://")


def test_it_shows_the_program_before_anything_is_selected(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.texts("h1") == ["cache"]
    figures = browser.texts("#figures div")
    assert "sections12" in figures
    assert "conflicts25" in figures
    assert len(browser.texts(".node")) == 12
    assert browser.texts("#details h2") == ["No section is selected"]


def selected(browser: Browser) -> dict[str, Any]:
    return {
        "name": browser.texts("#details h2"),
        "conflicts": browser.run(
            "[...document.querySelectorAll('#details li[data-with]')].map((x) => x.dataset.with)"
        ),
        "chains": browser.texts("#details ol.chain > li"),
        "highlighted": browser.run(
            "[...document.querySelectorAll('.node.near, .node.chosen')]"
            ".map((x) => x.dataset.section)"
        ),
        "address": browser.run("location.hash"),
    }


CHOSEN = {
    "name": ["cache_set_1"],
    "conflicts": ["cache_get_1", "cache_set_1", "cache_release_1", "cache_evict_1"],
    "highlighted": ["cache_get_1", "cache_set_1", "cache_release_1", "cache_evict_1"],
    "address": "#section=cache_set_1",
}


def check_selected(browser: Browser) -> None:
    found = selected(browser)
    chains = found.pop("chains")
    assert found == CHOSEN
    assert [text.split()[0] for text in chains] == ["cache_set", "log_line", "fprintf"]
    assert 'log_line("large item", item->length);' in chains[0]
    assert "src/cache.c:" in chains[0]


def test_selecting_in_the_graph(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.click('.node[data-section="cache_set_1"] .disc')
    check_selected(browser)
    text = browser.texts("#details")[0]
    assert "item_locks[]" in text
    assert "A exclusive" in text
    assert "cold path" in text
    browser.press("Escape")
    assert browser.texts("#details h2") == ["No section is selected"]
    assert browser.run("location.hash") == ""


def test_selecting_by_the_address(browser: Browser, page: Path) -> None:
    browser.open(page, "#section=cache_set_1")
    check_selected(browser)
    browser.run("location.hash = '#section=stats_print&view=findings'; 0")
    browser.run("new Promise((done) => setTimeout(done, 0))")
    assert browser.texts("#details h2") == ["stats_print"]
    assert browser.texts('[role=tab][aria-selected="true"]')[0].startswith("Findings")
    browser.run("location.hash = '#section=gone&view=none'; 0")
    browser.run("new Promise((done) => setTimeout(done, 0))")
    assert browser.texts("#details h2") == ["No section is selected"]


def test_selecting_in_a_table_and_in_the_details(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.click("#tab-sections")
    assert len(browser.texts("#view-sections tbody tr")) == 12
    browser.click('#view-sections a[href="#section=cache_set_1"]')
    assert browser.texts("#details h2") == ["cache_set_1"]
    browser.click('#details li[data-with="cache_release_1"] a')
    assert browser.texts("#details h2") == ["cache_release_1"]
    assert browser.texts("#view-sections tr.chosen td:first-child") == ["cache_release_1"]
    browser.click("#view-sections tbody tr:nth-child(2) td:nth-child(3)")
    assert browser.texts("#details h2") == ["count_get"]


def test_selecting_by_keys(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.press("]")
    first = browser.texts("#details h2")
    browser.press("]")
    assert browser.texts("#details h2") != first
    browser.press("[")
    assert browser.texts("#details h2") == first
    browser.run("document.querySelector('.node[tabindex=\"0\"]').focus()")
    browser.press("ArrowLeft")
    focused = browser.run("document.activeElement.dataset.section")
    assert [focused] != first
    browser.press("Enter")
    assert browser.texts("#details h2") == [focused]


def test_it_shows_what_a_section_touches_and_its_source(browser: Browser, page: Path) -> None:
    browser.open(page, "#section=cache_set_1")
    assert browser.texts("#details details[data-location] code") == [
        "item.length",
        "item.next",
        "item.refcount",
        "table[]",
    ]
    browser.click('#details details[data-location="item.refcount"] summary')
    assert any("item->refcount = 1;" in x for x in browser.texts("#details details[open] .row.lit"))
    source = browser.texts("#details > .code .row")
    assert any("pthread_mutex_lock(&item_locks[b]);" in row for row in source)
    assert any(row.lstrip("0123456789").startswith("W") for row in source)
    assert any(row.lstrip("0123456789").startswith("!") for row in source)


def test_the_filter_leaves_what_matches(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.press("/")
    for letter in "queue_pop":
        browser.press(letter)
    shown = browser.run(
        "[...document.querySelectorAll('.node:not(.out)')].map((x) => x.dataset.section)"
    )
    assert shown == ["queue_pop_1", "queue_pop_2"]
    browser.click("#tab-sections")
    assert len(browser.texts("#view-sections tbody tr")) == 2
    browser.run(
        "document.querySelector('#filter').value = 'nowhere'; "
        "document.querySelector('#filter').dispatchEvent(new Event('input'))"
    )
    assert browser.texts("#view-sections .empty") == ["Nothing matches the filter."]


def test_classes_can_be_switched_off(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.click(".legend button:nth-child(2)")
    hidden = browser.run("[...document.querySelectorAll('.node.out')].map((x) => x.classList[1])")
    assert hidden == ["hybrid"] * 5


def test_tables_sort(browser: Browser, page: Path) -> None:
    browser.open(page, "#view=sections")
    names = browser.texts("#view-sections tbody td:first-child")
    browser.click("#view-sections th:first-child button")
    assert browser.texts("#view-sections tbody td:first-child") == sorted(names)
    browser.click("#view-sections th:first-child button")
    assert browser.texts("#view-sections tbody td:first-child") == sorted(names, reverse=True)
    order = browser.run("document.querySelector('#view-sections th').getAttribute('aria-sort')")
    assert order == "descending"


def test_every_view_shows_its_part(browser: Browser, page: Path) -> None:
    browser.open(page)
    for view, text in {
        "findings": "a condition variable is tied to a section",
        "locks": "a signal neither begins nor ends a section",
        "locations": "also it->refcount, item->refcount",
        "colours": "stats.evictions",
        "threads": "worker",
        "externals": "pthread_mutex_trylock",
    }.items():
        browser.click(f"#tab-{view}")
        assert text in browser.texts(f"#view-{view}")[0], view
    browser.click("#tab-findings")
    suppressed = browser.texts(".finding.suppressed")
    assert len(suppressed) == 2
    assert "the number of buckets may be old" in suppressed[0]


def test_groups_are_cards(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.run(
        "document.querySelector('#group').value = 'file'; "
        "document.querySelector('#group').dispatchEvent(new Event('change'))"
    )
    cards = browser.texts(".card text")
    assert sorted(cards) == ["src/cache.c 6", "src/server.c 6"]


def test_zoom_and_pan_move_the_picture(browser: Browser, page: Path) -> None:
    browser.open(page)
    box = "document.querySelector('svg.canvas').getAttribute('viewBox')"
    before = [float(x) for x in browser.run(box).split()]
    browser.click('button[aria-label="Zoom in"]')
    closer = [float(x) for x in browser.run(box).split()]
    assert closer[2] < before[2]
    browser.run("[...document.querySelectorAll('.bar button')].at(-1).click()")
    assert [float(x) for x in browser.run(box).split()] == before


def test_text_of_the_program_is_never_markup(
    browser: Browser, tandem: Tandem, tmp_path: Path
) -> None:
    report = json.loads((CACHE / "cache.json").read_text())
    evil = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"
    report["sections"][0]["name"] += evil
    for section in report["sections"]:
        for conflict in section["conflicts"]:
            if conflict["with"] == "cache_get_1":
                conflict["with"] += evil
    for site in report["lock_sites"]:
        site["sections"] = [x + evil if x == "cache_get_1" else x for x in site["sections"]]
    report["findings"][0]["message"] = evil
    assert report["sections"][0]["name"] == "cache_get_1" + evil
    file = tmp_path / "evil.json"
    file.write_text(json.dumps(report))
    tandem.output("analyze", file, "--html", tmp_path / "evil.html")
    browser.open(tmp_path / "evil.html", "#view=findings")
    assert browser.run("document.querySelectorAll('img').length") == 0
    assert any(evil in text for text in browser.texts(".finding"))


def test_a_report_as_large_as_that_of_memcached(
    browser: Browser, tandem: Tandem, tmp_path: Path
) -> None:
    file = tmp_path / "large.json"
    file.write_text(json.dumps(large_report(260)))
    page = tmp_path / "large.html"
    tandem.output("analyze", file, "--html", page)
    assert page.stat().st_size < 3_000_000 < file.stat().st_size
    browser.open(page, "#section=process_request_of_kind_100")
    assert len(browser.texts(".node")) == 260
    assert len(browser.texts(".card")) == 23
    # Names beside their discs do not lie on one another.
    overlaps = browser.run(
        "(() => { const boxes = [...document.querySelectorAll('.node text')]"
        ".map((x) => x.getBBox()); let count = 0;"
        "boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => { count += "
        "a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height"
        " }));"
        "return count; })()"
    )
    assert overlaps == 0
    conflicts = browser.texts('#details li[data-with="process_request_of_kind_0"]')
    assert conflicts == []  # (0 + 100) % 5 == 0
    assert "208" in browser.texts("#details h3")[0]
    browser.click('.node[data-section="process_request_of_kind_7"] .disc')
    assert browser.texts("#details h2") == ["process_request_of_kind_7"]

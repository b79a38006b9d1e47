# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names of functions are the program's, wherever they are shown."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import Tandem

# Sections that reach what only compilers and the C++ library call: a virtual call that may be of a
# pure function, strings and containers that grow and throw, a static variable with a constructor, a
# thread that is started, a function that a header has by another name.
SOURCE = """\
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
struct Shape {
  virtual ~Shape() = default;
  virtual long area() const = 0;
};
struct Square final : Shape {
  long side = 0;
  long area() const override { return side * side; }
};
static std::mutex m;
static std::map<std::string, std::vector<long>> areas;
static std::thread helper;
static std::mutex count_lock;
static long count;
static void seen() {
  std::lock_guard<std::mutex> hold(count_lock);
  ++count;
}
static const std::string &prefix() {
  static const std::string text = std::to_string(areas.size()) + ": a prefix of some length";
  return text;
}
static void add(const Shape &shape, const char *text) {
  long scale = 1;
  std::lock_guard<std::mutex> hold(m);
  if (std::sscanf(text, "%ld", &scale) != 1)
    throw std::string("no number");
  areas[prefix() + text].push_back(scale * shape.area());
  seen();
}
static void help() {
  std::lock_guard<std::mutex> hold(m);
  if (!helper.joinable())
    helper = std::thread([] { add(Square(), "3"); });
}
int main(int argc, char **argv) {
  Square square;
  std::thread other([&] { add(square, argv[argc - 1]); });
  help();
  other.join();
  helper.join();
  return static_cast<int>(areas.size());
}
"""

# Not the strings of the source that pages show.
INTERNAL = re.compile(r"__cxa_\w+|\b_Z\w+|::_M_\w+|\b_M_\w+|__isoc\w+|std::__\w+|std::_[A-Z]\w+")


@pytest.fixture(scope="module")
def report(tandem: Tandem, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("names")
    (folder / "shapes.cc").write_text(SOURCE)
    report = folder / "report.json"
    tandem.output("analyze", folder / "shapes.cc", "--json", report, "--", "-std=c++17")
    return report


def said_of(report: Path) -> set[str]:
    found = json.loads(report.read_text())
    return {call["callee"] for section in found["sections"] for call in section["irrevocable"]}


def test_the_report_has_the_names_of_the_compiler(report: Path) -> None:
    assert {"__cxa_pure_virtual", "__cxa_guard_acquire"} <= said_of(report)
    assert any("_M_start_thread" in name for name in said_of(report))


def test_the_tables_have_those_of_the_program(tandem: Tandem, report: Path) -> None:
    text = tandem.output("analyze", report, "--all")
    assert INTERNAL.findall(text) == []
    assert "a part of std::map or std::set" in text
    sections = [section["name"] for section in json.loads(report.read_text())["sections"]]
    details = "".join(tandem.output("analyze", report, "--section", name) for name in sections)
    assert INTERNAL.findall(details) == []
    for name in (
        "call of a pure virtual function",
        "making of a static variable in a function",
        "std::thread's start",
        "throw",
        "sscanf",
    ):
        assert name in details


def test_so_have_the_page_and_what_other_tools_read(
    tandem: Tandem, report: Path, tmp_path: Path
) -> None:
    page, sarif, suggested = (tmp_path / name for name in ("a.html", "a.sarif", "a.toml"))
    tandem.output(
        *("analyze", report, "--all", "--root", tmp_path),
        *("--html", page, "--sarif", sarif, "--suggest", suggested),
    )
    data = re.findall(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page.read_text())
    assert len(data) == 1
    shown = json.loads(data[0])
    del shown["files"]  # lines of sources, headers among them
    for text in (json.dumps(shown), sarif.read_text(), suggested.read_text()):
        assert INTERNAL.findall(text) == []
    assert "std::thread's start" in json.dumps(shown)

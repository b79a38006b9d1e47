# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Locks of the C++ library that cannot be converted: a line with the place, status 2."""

from __future__ import annotations

import pytest
from conftest import Converter

HEAD = """\
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
static std::mutex a, b;
static std::condition_variable_any any;
static long x;
"""
FIRST = HEAD.count("\n") + 1  # the next line's number
# What a class of the program's own does before or after it has locked.
REFUSES = (
    "struct Closed {}; static bool closed;\n[[noreturn]] static void refuse() { throw Closed(); }\n"
)
CODE = {
    "two at once": (
        "void f() { std::scoped_lock g(a, b); ++x; }\n",
        f"p.cc:{FIRST}: takes several locks at once, 'a' among them",
    ),
    "two by std::lock": (
        "void f() { std::lock(a, b); ++x; a.unlock(); b.unlock(); }\n",
        f"p.cc:{FIRST}: takes several locks at once, 'a' among them",
    ),
    "a condition of any lock": (
        "void f() { std::unique_lock<std::mutex> g(a); any.wait(g); ++x; }\n",
        f"p.cc:{FIRST}: main may return and hold 'a', and it cannot be put into its callers",
    ),
    "given to code outside": (
        "void outside(std::mutex &);\n"
        "void f() { { std::lock_guard<std::mutex> g(a); ++x; } outside(a); }\n",
        f"p.cc:{FIRST + 1}: lock 'a' is given to 'outside(std::mutex&)', code outside",
    ),
    "behind another name": (
        "using Lock = std::mutex;\nvoid outside(Lock &);\n"
        "void f() { { std::lock_guard<std::mutex> g(a); ++x; } outside(a); }\n",
        f"p.cc:{FIRST + 2}: lock 'a' is given to 'outside(std::mutex&)', code outside",
    ),
    "a member called by pointer": (
        "void (std::mutex::*take)() = &std::mutex::lock;\n"
        "void f() { { std::lock_guard<std::mutex> g(a); ++x; } (a.*take)(); a.unlock(); }\n",
        "p.cc:",
    ),
    "a condition of code outside": (
        "static std::condition_variable c;\nvoid outside(std::condition_variable &);\n"
        "void f() { std::unique_lock<std::mutex> g(a); while (x == 0) c.wait(g);\n"
        "  g.unlock(); outside(c); }\n",
        f"p.cc:{FIRST + 3}: condition 'c' is given to 'outside(std::condition_variable&)'",
    ),
    "tried, beside recursive ones": (
        "struct S { std::recursive_mutex m; };\n"
        "void f() { S *s = new S; s->m.lock(); s->m.unlock(); delete s;\n"
        "  if (a.try_lock()) { ++x; a.unlock(); } }\n",
        f"p.cc:{FIRST + 2}: lock 'a' is tried, and may be one that its owner can lock again",
    ),
    "an exception that leaves it locked": (
        "struct S { ~S() { x = 1; } };\n"
        "void f() { S s; a.lock(); if (x == 3) throw 1; a.unlock(); }\n",
        f"p.cc:{FIRST + 1}: main may hand on an exception and hold 'a', and it cannot be put into",
    ),
    "a guard that may refuse before it locks": (
        f"{REFUSES}"
        "struct Hold { Hold() { if (closed) refuse(); a.lock(); } ~Hold() { a.unlock(); } };\n"
        "void f() { closed = true; try { Hold h; ++x; } catch (const Closed &) { x = 1; } }\n",
        f"p.cc:{FIRST + 3}: main may return and hold 'a', and it cannot be put into its callers",
    ),
    "a guard that may refuse with its lock held": (
        f"{REFUSES}"
        "struct Hold { Hold() { a.lock(); if (closed) refuse(); } ~Hold() { a.unlock(); } };\n"
        "void f() { closed = true; try { Hold h; ++x; } catch (const Closed &) { x = 1; } }\n",
        f"p.cc:{FIRST + 3}: main may return and hold 'a', and it cannot be put into its callers",
    ),
    "a guard of a wrapper that may refuse": (
        f"{REFUSES}"
        "static void take() { if (closed) throw Closed(); a.lock(); }\n"
        "struct Hold { Hold() { take(); } ~Hold() { a.unlock(); } };\n"
        "void f() { closed = true; try { Hold h; ++x; } catch (const Closed &) { x = 1; } }\n",
        f"p.cc:{FIRST + 4}: main may return and hold 'a', and it cannot be put into its callers",
    ),
    "a guard in an object of its own": (
        "#include <memory>\n"
        "void f() { auto g = std::make_unique<std::lock_guard<std::mutex>>(a); ++x;\n"
        "  auto *h = new std::unique_lock<std::mutex>(b); delete h; }\n",
        "p.toml:2: how the program acquires 'a' is not understood: by guards in objects of",
    ),
    "a guard of the caller's": (
        "void give(std::unique_lock<std::mutex> &g) { g.unlock(); ++x; g.lock(); }\n"
        "void f() { std::unique_lock<std::mutex> g(a); give(g); }\n",
        f"p.cc:{FIRST + 1}: main may return and hold 'a', and it cannot",
    ),
}


@pytest.mark.parametrize("case", CODE)
def test_what_cannot_be_converted(converter: Converter, case: str) -> None:
    code, message = CODE[case]
    source = converter.folder / "p.cc"
    source.write_text(f"{HEAD}{code}int main() {{ f(); return x != 1; }}\n", encoding="utf-8")
    file = converter.folder / "p.toml"
    file.write_text('version = 1\n[[section]]\nlocks = ["a"]\nreason = "r"\n', encoding="utf-8")
    compiled = converter.compile(source, file, "-O1", "-Wno-unused", "-ftandem-enforce=stm")
    lines = [x for x in compiled.errors.splitlines() if x.startswith("tandem-cc: ")]
    assert compiled.status == 2, f"{compiled.status}: {compiled.errors}"
    assert len(lines) == 1, compiled.errors
    assert not compiled.program.exists()
    line = lines[0].removeprefix("tandem-cc: ").replace(f"{converter.folder}/", "")
    assert line.startswith(message), line

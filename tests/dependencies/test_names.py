# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No two headers give different types one name, and the check sees it where they do."""

from pathlib import Path

import names

ROOT = Path(__file__).resolve().parents[2]

HEADER = """\
// struct Told {
namespace tandem::one {
namespace {
struct Hidden {};
}
template <class Parameter> struct Made { struct Inner { int x = '{'; }; };
enum class Kind : int { a };
class Later;
class Derived final : public Later<int> { void f() { struct Local {}; } };
} // namespace tandem::one
struct Global {};
"""


def test_what_a_header_defines() -> None:
    assert names.types_of(HEADER) == {
        "tandem::one::Made",
        "tandem::one::Kind",
        "tandem::one::Derived",
        "Global",
    }


def test_this_tree() -> None:
    assert len(names.types_of((ROOT / "src/compiler/report/report.h").read_text())) > 5
    assert names.doubles(ROOT) == []


def test_sees_two_of_one_name(tmp_path: Path) -> None:
    for room in ("compiler", "cli", "runtime"):
        (tmp_path / "src" / room).mkdir(parents=True)
    text = "namespace tandem { struct Two {}; }\n"
    (tmp_path / "src/compiler/a.h").write_text(text)
    (tmp_path / "src/runtime/a.h").write_text(text)  # never in one program with the compiler
    assert names.doubles(tmp_path) == []
    (tmp_path / "src/cli/b.h").write_text(text)
    assert names.doubles(tmp_path) == ["tandem::Two: cli/b.h, compiler/a.h"]

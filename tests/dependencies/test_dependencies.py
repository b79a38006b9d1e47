# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The direction of the dependencies holds here, and the check sees every way of breaking it."""

from pathlib import Path

import dependencies
import pytest

ROOT = Path(__file__).resolve().parents[2]


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def test_this_tree() -> None:
    assert dependencies.cycles() + dependencies.violations(ROOT) == []
    # It looked at something: base and the compiler are there.
    rooms = {room for _, room in dependencies._files(ROOT)}
    assert {"base", "compiler/options", "compiler/pass", "include"} <= rooms


BAD = {
    "base to compiler": ("src/base/x.cc", '#include "compiler/options/options.h"'),
    "base to the public headers": ("src/base/x.cc", "#include <tandem/abi.h>"),
    "runtime to compiler": ("src/runtime/abi/x.cc", '#include "compiler/report/report.h"'),
    "compiler to runtime": ("src/compiler/enforce/x.cc", '#include "runtime/abi/inline.h"'),
    "compiler to runtime, by a relative path": (
        "src/compiler/enforce/x.cc",
        '#include "../../runtime/abi/inline.h"',
    ),
    "runtime to cli": ("src/runtime/x.h", '#  include  "cli/cli.h"'),
    "compiler to cli": ("src/compiler/driver/x.cc", '#include "cli/cli.h"'),
    "driver to LLVM": ("src/compiler/driver/x.cc", "#include <llvm/IR/Module.h>"),
    "report to LLVM": ("src/compiler/report/x.h", '#include "llvm/IR/Module.h"'),
    "options to clang": ("src/compiler/options/x.h", '#include "clang/AST/Attr.h"'),
    "driver to the analysis": ("src/compiler/driver/x.cc", '#include "compiler/sections/x.h"'),
    "sections to effects": ("src/compiler/sections/x.cc", '#include "compiler/effects/x.h"'),
    "effects to conflicts": ("src/compiler/effects/x.cc", '#include "compiler/conflicts/x.h"'),
    "instrument to enforce": ("src/compiler/instrument/x.cc", '#include "compiler/enforce/x.h"'),
    "enforce to pass": ("src/compiler/enforce/x.cc", '#include "compiler/pass/x.h"'),
    "cli to the pass": ("src/cli/front/x.cc", '#include "compiler/pass/x.h"'),
    "cli to a subcommand": ("src/cli/front/x.cc", '#include "cli/analyze/x.h"'),
    "public headers to base": ("include/tandem/x.h", '#include "base/check.h"'),
}


@pytest.mark.parametrize("case", BAD)
def test_sees(case: str, tmp_path: Path) -> None:
    file, line = BAD[case]
    good = {"src/runtime/abi/inline.h": "", "src/base/ok.cc": "#include <vector>\n"}
    assert dependencies.violations(tree(tmp_path, good)) == []
    found = dependencies.violations(tree(tmp_path, {file: f"// a comment\n\n{line}\n"}))
    assert len(found) == 1
    assert found[0].startswith(f"{file}:3: ")


def test_sees_a_folder_without_a_rule(tmp_path: Path) -> None:
    found = dependencies.violations(tree(tmp_path, {"src/attic/x.cc": "", "src/compiler/y.cc": ""}))
    assert [line.split(":")[0] for line in found] == ["src/attic/x.cc", "src/compiler/y.cc"]


def test_sees_an_exception_that_nothing_needs(tmp_path: Path) -> None:
    file, name = next(iter(dependencies.EXCEPTIONS))
    used = tree(tmp_path / "used", {f"src/{file}": f'#include "{name}"\n'})
    assert dependencies.violations(used) == []
    assert len(dependencies.violations(tree(tmp_path / "unused", {f"src/{file}": ""}))) == 1


def test_sees_a_cycle_in_its_own_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(dependencies.RULES, "base", dependencies.folder("runtime"))
    assert any("base" in line for line in dependencies.cycles())


def test_an_empty_tree_is_no_success(tmp_path: Path) -> None:
    assert dependencies.main([str(tmp_path)]) == 1

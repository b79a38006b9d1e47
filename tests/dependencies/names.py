# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No two headers give different types one name: where both are linked into a program, it has the
functions of one of them for both (the one-definition rule), and no compiler says so.

    names.py [ROOT]    checks the headers below ROOT/src; a line per name, status 1

The runtime meets neither the compiler nor the command line in one program; its names are compared
with those of what it may include.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path

# What has no code: comments, texts, characters.
_NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])\'',
    re.DOTALL,
)
# A namespace, a type with its members, or any other brace.
_OPENS = re.compile(
    r"\bnamespace(?P<namespace>\s+[\w:]+)?\s*\{"
    r"|\b(?:struct|class|union|enum(?:\s+class)?)\s+(?:\[\[[^\]]*\]\]\s*|alignas\([^)]*\)\s*)*"
    r"(?P<type>\w+)(?:\s+final)?\s*(?::(?!:)[^;{}()]*)?\{"
    r"|\{|\}"
)
_RUNTIME = "runtime"
_WITHOUT_RUNTIME = ("compiler", "cli", "machine")


def types_of(text: str) -> set[str]:
    """The types that a header defines in named namespaces, with those."""
    code = _NO_CODE.sub(" ", text)
    found = set()
    around: list[str | None] = []  # names of namespaces; none: another brace, or no name
    for match in _OPENS.finditer(code):
        if match[0] == "}":
            if around:
                around.pop()
        elif match[0].startswith("namespace"):
            name = match["namespace"]
            around.append(name.strip() if name else None)
        elif match["type"]:
            if None not in around:
                found.add("::".join([*(x for x in around if x), match["type"]]))
            around.append(None)
        else:
            around.append(None)
    return found


def doubles(root: Path) -> list[str]:
    """A line for each name that two headers of one program define."""
    headers: dict[str, list[Path]] = defaultdict(list)
    for path in sorted((root / "src").rglob("*.h")):
        for name in types_of(path.read_text(encoding="utf-8")):
            headers[name].append(path.relative_to(root / "src"))
    lines = []
    for name, paths in sorted(headers.items()):
        for rooms in ((_RUNTIME, "base", "contention"), (*_WITHOUT_RUNTIME, "base", "contention")):
            own = [str(path) for path in paths if path.parts[0] in rooms]
            if len(own) > 1:
                lines.append(f"{name}: {', '.join(own)}")
    return sorted(set(lines))


if __name__ == "__main__":
    found = doubles(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2])
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(1 if found else 0)

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random changes of experiments and results through the readers in Python.

    documents.py [SECONDS [SEED]]    default: 60 seconds, a seed of its own, which is printed

Anything but a document, or an error of which users see one line that begins with the file, is a
failure: its input is printed, and the status is 1.
"""

from __future__ import annotations

import contextlib
import io
import random
import sys
import time
import traceback
from pathlib import Path

from tandem.errors import UserError
from tandem.experiment.definition import from_document
from tandem.formats.documents import parse_toml
from tandem.formats.result import result_from_json
from tandem.program import say

ROOT = Path(__file__).resolve().parents[2]
PIECES = (
    "[", "]", "{", "}", "[[", "]]", "=", ".", ",", '"', "'", '"""', "'''", "#", "\n", "\\", "\\u",
    "a.a.a", "1e999", "-1", "inf", "nan", "1979-05-27", "true", "\0", "\x1b", "\u202e", "é", " ",
    "[" * 70, ".a" * 70, "{a=" * 70, "9" * 30, "x" * 5000,
)  # fmt: skip


def changed(text: str, source: random.Random, others: list[str]) -> str:
    for _ in range(source.randint(1, 6)):
        begin = source.randint(0, len(text))
        end = min(len(text), begin + source.choice((0, 0, 1, 3, 20, 200)))
        other = source.choice(others)
        at = source.randint(0, len(other))
        piece = source.choice((*PIECES, other[at : at + source.randint(1, 80)]))
        text = text[:begin] + piece + text[end:]
    return text


def read(text: str, is_result: bool) -> None:
    if is_result:
        result_from_json(text, "f.json")
    else:
        from_document(parse_toml(text, "f.toml"), file="f.toml", name="f", text=text)


def main(arguments: list[str]) -> int:
    seconds = float(arguments[0]) if arguments else 60.0
    seed = int(arguments[1]) if len(arguments) > 1 else random.SystemRandom().randrange(1 << 32)
    source = random.Random(seed)
    definitions = [
        path.read_text(encoding="utf-8")
        for folder in ("experiments", "python/tests")
        for path in sorted((ROOT / folder).glob("*.toml"))
    ]
    results = ['{"version": 1, "experiment": {"name": "x"}, "points": [], "axes": [1, "a", {}]}']
    results += [
        path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("docs/formats/*.json"))
    ]
    print(f"documents: {seconds:.0f} s, seed {seed}", flush=True)
    end = time.monotonic() + seconds
    tried = 0
    while time.monotonic() < end:
        is_result = source.random() < 0.3
        corpus = results if is_result else definitions
        text = changed(source.choice(corpus), source, corpus)
        tried += 1
        try:
            read(text, is_result)
        except UserError as error:
            with contextlib.redirect_stderr(io.StringIO()) as shown:
                say("documents", str(error))
            line = shown.getvalue()
            if line.startswith("documents: f.") and line.endswith("\n") and line[:-1].isprintable():
                continue
            print(f"documents: seed {seed}: no single line: {line!r}\n{text}")
            return 1
        except Exception:
            traceback.print_exc()
            print(f"documents: seed {seed}, input {tried}:\n{text!r}")
            return 1
    print(f"documents: {tried} documents, nothing found")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

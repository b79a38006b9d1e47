# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""STAMP applications, rewritten as a whole and compiled by gcc, verify their own results."""

from __future__ import annotations

import json

import pytest
from conftest import REPOSITORY, Rewriter

STAMP = REPOSITORY / "workloads" / "stamp"


@pytest.mark.parametrize("application", ["genome", "intruder", "bayes"])
def test_application(rewriter: Rewriter, application: str) -> None:
    folders = (STAMP / application, STAMP / "lib")
    sources = sorted(file for folder in folders for file in folder.glob("*.c"))
    private = [file for file in sources if file.name.endswith("_private.c")]
    own = [file for file in sources if file not in private]
    compiled = [file for file in private if not file.name.startswith("attempts")]
    flags = ("-DSTAMP_TANDEM", "-I", STAMP)
    (rewriter.folder / "out").mkdir()
    rewriter.text(
        "--catalogue", STAMP / "stamp.toml", "--output-dir", "out", *own, "--", "-std=gnu17", *flags
    )
    outputs = [f"out/{file.name}" for file in own]
    texts = [(rewriter.folder / output).read_text(encoding="utf-8") for output in outputs]
    assert any("__transaction_atomic" in text for text in texts)
    # The suite's header includes tandem.h; that nothing of it is used shows without the compiler.
    program = rewriter.compile(
        "application", "-O2", "-ffp-contract=off", *flags, "-I", REPOSITORY / "include",
        "-I", STAMP / application, *outputs, *compiled,
    )  # fmt: skip
    plain = rewriter.compile(
        "plain", "-O2", "-ffp-contract=off", "-DSTAMP_SEQUENTIAL", "-I", STAMP, *own, *compiled,
        transactions=False,
    )  # fmt: skip
    wanted = json.loads(rewriter.run(plain, "--size", "small", "--json", "-"))
    for threads in (1, 2):
        result = json.loads(
            rewriter.run(program, "--size", "small", "--threads", threads, "--json", "-")
        )
        assert result["verified"]
        if threads == 1:
            assert result["checksum"] == wanted["checksum"]

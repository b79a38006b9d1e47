# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""TxLinux without a kernel: its lock functions as a program on simulated harts, and its semantic
patch on a small file. The long form is kernels.py.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
FILES = HERE.parents[1] / "workloads" / "txlinux"
MACHINE = Path(os.environ["TANDEM_BUILD"]) / "libexec" / "tandem-machine"
KERNEL = FILES / "kernel"
COMPILER = "riscv64-linux-gnu-gcc"


def selftest(
    folder: Path, changes: Sequence[tuple[str, str]] = (), *, coarse: bool = False
) -> Path:
    """The program, of our kernel files with pieces of their text replaced."""
    asm = folder / "asm"
    shutil.copytree(KERNEL / "arch/riscv/include/asm", asm)
    sources = [folder / "txlock.c"] + ([folder / "coarselock.c"] if coarse else [])
    for source in sources:
        shutil.copy(KERNEL / "kernel/locking" / source.name, source)
    for old, new in changes:
        files = [x for x in (asm / "spinlock.h", *sources) if old in x.read_text()]
        assert files, f"the text '{old}' is in no file"
        for file in files:
            file.write_text(file.read_text().replace(old, new))
    program = folder / "selftest"
    subprocess.run(
        [
            *(COMPILER, "-std=gnu17", "-O2", "-Wall", "-Werror", "-static", "-pthread"),
            *(
                "-DCONFIG_TXLINUX",
                *(["-DCONFIG_COARSE_LOCKS"] if coarse else []),
                "-I",
                HERE.parents[1] / "include",
                "-I",
                folder,
                "-I",
                HERE / "shim",
            ),
            *("-I", KERNEL / "include", HERE / "selftest.c", *sources, "-o", program),
        ],
        check=True,
    )
    return program


def run(program: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [MACHINE, "exec", "--harts", "4", "--limit", "400M", *options, program],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("limit", ["1", "8"])
@pytest.mark.parametrize("time", [(), ("--protocol", "mesi-snoop")], ids=["no-time", "time"])
@pytest.mark.parametrize("coarse", [False, True], ids=["fine", "coarse"])
def test_lock_functions(tmp_path: Path, limit: str, time: tuple[str, ...], coarse: bool) -> None:
    program = selftest(tmp_path, coarse=coarse)
    counted = tmp_path / "run.json"
    done = run(program, "--tx-limit", limit, "--json", str(counted), *time)
    assert done.returncode == 0, done.stdout + done.stderr
    transactions = json.loads(counted.read_text())["transactions"]
    assert transactions["commits"] > 1000
    assert transactions["causes"]["call"] > 0
    assert transactions["causes"]["conflict"] > 0


MISTAKES = {
    "spin sections do not look at their lock": [
        ("tx_enter(!arch_spin_is_locked(lock))", "tx_enter(true)")
    ],
    "rwlock sections do not look at their lock": [("!atomic_read(&lock->cnts)", "true")],
    "bit sections do not look at their bit": [("tx_enter(!test_bit(bit, addr))", "tx_enter(true)")],
    "an attempt does not look at its lock": [
        ("if (likely(!arch_spin_is_locked(lock)))", "if (likely(true))")
    ],
    "readers of sequences do not look": [
        ("!(READ_ONCE(lock->seqcount.seqcount.sequence) & 1)", "true")
    ],
    "a release does not end its section": [
        (
            "	if ((val >> 16) == (u16)val)\n		xend();",
            "	if ((val >> 16) == (u16)val)\n		;",
        )
    ],
    "leaving early does not end the section": [
        ("	if (start == SEQ_ELIDED)\n		xend();", "")
    ],
}


COARSE_MISTAKES = {
    "the lock of dentries is not looked at": [("!again() && !tx_enter_spin(&all.word)", "false")],
    "a second level is not counted": [("	all.depth++;\n", "")],
    "a release does not end its section": [("		xend();\n	} else", "	} else")],
    "the owner is not forgotten": [("		WRITE_ONCE(all.owner, -1);\n", "")],
    "an attempt inside waits for itself": [("	if (again())\n		return 1;\n", "")],
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_found(tmp_path: Path, mistake: str) -> None:
    program = selftest(tmp_path, MISTAKES[mistake])
    assert run(program, "--tx-limit", "8").returncode != 0


@pytest.mark.parametrize("mistake", COARSE_MISTAKES)
def test_mistakes_of_coarse_locks_are_found(tmp_path: Path, mistake: str) -> None:
    program = selftest(tmp_path, COARSE_MISTAKES[mistake], coarse=True)
    assert run(program, "--tx-limit", "8").returncode != 0


def test_settings_are_refused_before_anything_is_built(tmp_path: Path) -> None:
    tandem = Path(os.environ["TANDEM_BUILD"]) / "bin" / "tandem"
    words = ["workload", "txlinux", "run", "counter", "--set", 'htm.policy="best"']
    empty = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run([tandem, *words], capture_output=True, text=True, check=False, env=empty)
    assert (done.returncode, done.stdout, [*tmp_path.iterdir()]) == (2, "", [])
    assert re.fullmatch(
        r"tandem workload: --set htm\.policy=\"best\": 'htm\.policy' must be one of .*\n",
        done.stderr,
    )


def test_semantic_patch(tmp_path: Path) -> None:
    output = tmp_path / "output.c"
    subprocess.run(
        [
            *("spatch", "--sp-file", FILES / "txlinux.cocci", "--no-includes", "--very-quiet"),
            *(HERE / "semantic/input.c", "-o", output),
        ],
        stdout=subprocess.DEVNULL,
        check=True,
    )
    text = output.read_text()
    assert "#include <linux/txlock.h>" in text
    assert Counter(re.findall(r"\b\w+_tx\b", text)) == {
        "spin_lock_tx": 5,
        "spin_lock_irqsave_tx": 2,
        "spin_lock_irq_tx": 1,
        "spin_lock_bh_tx": 2,
        "spin_lock_nested_tx": 1,
        "spin_trylock_tx": 1,
        "hlist_bl_lock_tx": 1,
        "bit_spin_lock_tx": 1,
        "read_lock_tx": 1,
        "write_lock_bh_tx": 1,
    }
    for kept in (
        "spin_lock(&n->other_lock)",
        "spin_lock(&free_lock)",
        "mutex_lock",
        "read_seqbegin(&rename_lock)",
    ):
        assert kept in text
    before = (HERE / "semantic/input.c").read_text()
    assert text.count("unlock") == before.count("unlock")


def test_sites_are_of_listed_kinds() -> None:
    rows = [
        x.split() for x in (FILES / "sites.txt").read_text().splitlines() if not x.startswith("#")
    ]
    assert all(len(x) == 3 and int(x[1]) > 0 and x[2] in ("hand", "cocci") for x in rows)
    by_hand = (FILES / "kernel.patch").read_text()
    assert all(f"b/{x[0]}" in by_hand for x in rows if x[2] == "hand")

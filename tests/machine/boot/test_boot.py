# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tandem machine boot` on a small guest: consoles, devices, harts, how runs end."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from guests import TIMEOUT_S, boot, command, program


@pytest.mark.parametrize("console", ["uart", "sbi", "virtio"])
def test_each_console_shows_and_takes(guest: Path, console: str) -> None:
    done = boot(guest, "--console", console, "--type", "echo one", "--type", "exit 3")
    assert done.console == "ready\n# echo one\none\n# exit 3\n"
    assert (done.status, done.message) == (3, "")
    # More than the device holds at once, in a file.
    text = "echo " + "0123456789" * 10
    done = boot(guest, "--console", console, given=f"{text}\n" * 3 + "off\n")
    assert done.status == 0
    assert done.console.count(text[5:]) == 6
    assert done.result["reproducible"]


@pytest.mark.parametrize("harts", [1, 3, 8, 64])
def test_all_harts_count_and_are_interrupted(guest: Path, harts: int) -> None:
    done = boot(guest, "--harts", str(harts), "--run", "harts")
    expected = f"harts {harts}, counted {harts * 1000}, interrupted {harts - 1}\n"
    assert (done.status, done.console) == (0, expected), done.message
    assert done.result["harts"] == harts


def test_the_device_tree_tells_memory_and_arguments(guest: Path) -> None:
    done = boot(guest, "--memory", "96M", "--append", "quiet x=1", "--run", "memory")
    assert done.console == "96 MB\n"
    done = boot(guest, "--append", "quiet x=1", "--run", "arguments")
    assert done.console == 'console=ttyS0 earlycon=sbi quiet x=1 run="arguments"\n'
    done = boot(guest, "--append", "console=ttyS0,9600", "--run", "arguments")
    assert done.console == 'earlycon=sbi console=ttyS0,9600 run="arguments"\n'


@pytest.mark.parametrize(
    ("option", "shown"),
    [
        ("", "disk first line, slow, 0, 0, same, outside 1"),
        (",latency=0us", "disk first line, fast, 0, 0, same, outside 1"),
        (",ro", "disk first line, slow, 0, 1, differs, outside 1"),
    ],
)
def test_a_disk_is_a_file_that_stays(guest: Path, disk: Path, option: str, shown: str) -> None:
    before = disk.read_bytes()
    done = boot(guest, "--disk", f"{disk}{option}", "--run", "disk")
    assert (done.status, done.console) == (0, shown + "\n"), done.message
    assert disk.read_bytes() == before


def test_a_pair_of_ports(guest: Path) -> None:
    done = boot(guest, "--net", "pair", "--run", "net")
    assert (done.status, done.console) == (0, "frame of 72, same, 0.1 ms\n"), done.message


def test_qemu_says_the_same(guest: Path, disk: Path) -> None:
    for what in ("harts", "disk"):
        done = subprocess.run(
            [
                program("qemu-system-riscv64"), "-M", "virt", "-smp", "3", "-m", "64M",
                "-nographic", "-kernel", guest, "-append", f'console=ttyS0 run="{what}"',
                "-global", "virtio-mmio.force-legacy=false",
                "-drive", f"file={disk},if=none,id=disk,format=raw,snapshot=on",
                "-device", "virtio-blk-device,drive=disk",
            ],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            timeout=TIMEOUT_S,
        )  # fmt: skip
        ours = boot(guest, "--harts", "3", "--disk", f"{disk},latency=1ms", "--run", what)
        theirs = done.stdout.replace("\r\n", "\n").splitlines()[-1]
        assert done.returncode == 0, done.stderr
        if what == "disk":  # the host's disk may be quick
            theirs = theirs.replace("fast", "slow")
        assert ours.console == theirs + "\n"


@pytest.mark.parametrize(
    ("what", "status", "outcome", "message"),
    [
        ("off", 0, "shutdown", ""),
        ("off 1", 0, "reboot", ""),
        ("exit 0", 0, "exit", ""),
        ("exit 7", 7, "exit", ""),
        ("exit 256", 1, "exit", ""),  # a failure is never 0
        ("failure", 3, "failure", "because of a failure of its own"),
        (
            "spin",
            3,
            "limit",
            "no end after 2000000 instructions (--limit): hart 0 at 0x80",
        ),
        (
            "wait",
            3,
            "deadlock",
            "no timer, no device, no input: all harts wait; hart 0 at 0x80",
        ),
        ("panic", 3, "panic", "the kernel panicked: no root; hart 0 at 0x80"),
        (
            "crash",
            3,
            "crash",
            "(touches_nothing): store access fault, address 0x8; its trap handler at 0x40 cannot",
        ),
    ],
)
def test_ends_are_told(guest: Path, what: str, status: int, outcome: str, message: str) -> None:
    done = boot(guest, "--run", what, "--limit", "2M")
    assert (done.status, done.result["outcome"]) == (status, outcome)
    assert done.result["status"] == status
    assert message in done.message
    assert done.message.count("\n") == (1 if message else 0)
    assert done.result["message"] == done.message.partition(": ")[2].rstrip("\n")


def test_until(guest: Path) -> None:
    done = boot(guest, "--until", "ready")
    assert (done.status, done.console, done.result["outcome"]) == (0, "ready", "until")
    done = boot(guest, "--until", "never shown", "--run", "off")
    assert (done.status, done.result["outcome"]) == (3, "until-missed")
    assert "was never shown" in done.message
    done = boot(guest, "--until", "never shown", "--limit", "1M", "--run", "spin")
    assert (done.status, done.result["outcome"]) == (3, "limit")


def test_the_limit_is_exact(guest: Path) -> None:
    for harts in ("1", "5"):
        done = boot(guest, "--harts", harts, "--run", "harts", "--limit", "12345")
        assert done.result["instructions"] == 12345


def test_statistics_of_each_interval(guest: Path, tmp_path: Path) -> None:
    file = tmp_path / "statistics"
    done = boot(
        guest,
        "--harts",
        "4",
        "--run",
        "harts",
        "--stats",
        file,
        "--stats-every",
        "10000",
    )
    first, *lines = map(json.loads, file.read_text().splitlines())
    assert first == {
        "format": "tandem-machine-statistics", "version": 1, "harts": 4, "every": 10000
    }  # fmt: skip
    assert [line["instructions"] for line in lines[:-1]] == [
        10000 * (n + 1) for n in range(len(lines) - 1)
    ]
    assert len(lines) > 3
    assert lines[-1]["instructions"] == done.result["instructions"]
    assert sum(line["ran"] for line in lines) == done.result["instructions"]
    assert sum(line["passed"] for line in lines) == done.result["cycles"]
    for line in lines:
        assert len(line["retired"]) == 4
        assert sum(line["retired"]) <= line["ran"]
    starts = sum(line["counts"].get("sbi.hart_state", 0) for line in lines)
    assert starts == done.result["counts"].get("sbi.hart_state", 0)


def test_the_same_run_has_the_same_states(guest: Path, disk: Path, tmp_path: Path) -> None:
    runs = []
    for seed in ("1", "1", "2"):
        hashes = tmp_path / "hashes"
        boot(
            guest, "--harts", "4", "--disk", disk, "--net", "pair", "--seed", seed, "--hash-every",
            "5000", "--hashes", hashes, "--type", "harts", "--type", "disk", "--type", "net",
            "--type", "off",
        )  # fmt: skip
        runs.append(hashes.read_text())
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]
    assert runs[0].count("\n") > 10


def test_a_trace_has_symbols_and_values(guest: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    done = boot(guest, "--run", "crash", "--trace", trace, "--limit", "1M")
    assert done.result["outcome"] == "crash"
    lines = trace.read_text().splitlines()
    assert [int(line.split()[0]) for line in lines] == list(range(len(lines)))
    assert "_start " in lines[0]
    store = next(line for line in reversed(lines) if "touches_nothing" in line)
    assert "sd zero,0(t0)" in store
    assert "[8]<-0 trap: store access fault" in store
    part = tmp_path / "part"
    boot(
        guest, "--run", "crash", "--limit", "1M", "--trace", part, "--trace-from", "100",
        "--trace-count", "50",
    )  # fmt: skip
    assert part.read_text().splitlines() == lines[100:150]


def test_a_closed_standard_output_ends_nothing_badly(guest: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", '"$@" | true', "sh", *command(guest, "--run", "off", "--limit", "1M")],
        capture_output=True, text=True, check=False, timeout=TIMEOUT_S,
    )  # fmt: skip
    assert "panicked" not in done.stderr

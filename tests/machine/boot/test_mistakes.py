# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mistakes in a command of `tandem machine boot`: one line, status 2, nothing run or written."""

from __future__ import annotations

import gzip
import os
import socket
import struct
import subprocess
from pathlib import Path

import pytest
from guests import MACHINE, boot, command


@pytest.fixture
def folder(tmp_path: Path, guest: Path) -> Path:
    (tmp_path / "text").write_text("no kernel\n")
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "packed").write_bytes(gzip.compress(guest.read_bytes()))
    (tmp_path / "cut").write_bytes(guest.read_bytes()[:1000])
    (tmp_path / "large").write_bytes(b"x" * (60 << 20))
    (tmp_path / "huge.elf").write_bytes(memory_of(guest.read_bytes(), 1 << 40))
    return tmp_path


def memory_of(elf: bytes, size: int) -> bytes:
    """An ELF file whose segments want so much memory."""
    first, count = (
        struct.unpack_from("<Q", elf, 32)[0],
        struct.unpack_from("<H", elf, 56)[0],
    )
    changed = bytearray(elf)
    for at in range(first, first + count * 56, 56):
        if struct.unpack_from("<I", elf, at)[0] == 1:  # is loaded
            struct.pack_into("<Q", changed, at + 40, size)
    return bytes(changed)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("--kernel {folder}/nowhere", "{folder}/nowhere: cannot be read"),
        ("--kernel {folder}", "{folder}: "),
        ("--kernel {folder}/text", "is neither a RISC-V kernel Image nor an ELF file"),
        ("--kernel {folder}/empty", "is neither a RISC-V kernel Image nor an ELF file"),
        ("--kernel {folder}/packed", "is compressed; unpack it with gunzip"),
        ("--kernel {folder}/cut", "{folder}/cut: "),
        ("--kernel /bin/true", "is a program for x86-64"),
        ("--kernel {folder}/huge.elf", "does not fit"),
        ("--kernel {guest} --memory 8M --initrd {folder}/large", "does not fit"),
        (
            "--kernel {guest} --initrd {folder}/nowhere",
            "{folder}/nowhere: cannot be read",
        ),
        ("--kernel {guest} --dtb {folder}/text", "{folder}/text: "),
        ("--kernel {guest} --dtb {folder}/nowhere", "{folder}/nowhere: cannot be read"),
        (
            "--kernel {guest} --disk {folder}/nowhere",
            "{folder}/nowhere: cannot be read",
        ),
        ("--kernel {guest} --disk {folder}/text,fast", "'fast' is no option of a disk"),
        ("--kernel {guest} --disk {folder}/text,latency=5", "--disk: "),
        ("--kernel {guest} --disk ,ro", "names no file"),
        ("--kernel {guest} --disk {folder}", "{folder}: "),
        ("--kernel {guest} --net wifi", "'wifi' is no network"),
        ("--kernel {guest} --net relay=80", "'80' is no pair of ports"),
        ("--kernel {guest} --net relay=0:80", "'0:80' is no pair of ports"),
        ("--kernel {guest} --net relay=70000:80", "'70000:80' is no pair of ports"),
        ("--kernel {guest} --console tty", "'tty' is no console"),
        ("--kernel {guest} --harts 0", "--harts"),
        ("--kernel {guest} --harts 65", "--harts"),
        ("--kernel {guest} --memory 1", "--memory 1: is to be 8M to 256G"),
        ("--kernel {guest} --memory x", "--memory: "),
        ("--kernel {guest} --stats x --stats-every -1", "--stats-every"),
        ("--kernel {guest} --symbols /bin/true", "is a program for x86-64"),
        ("--kernel {guest} --symbols {folder}/nothing", "nothing: cannot be read"),
        ("--kernel {guest} --save {folder}/none/file", "{folder}/none/file: "),
        ("--kernel {guest} --record {folder}/none/file", "{folder}/none/file: "),
        ("--kernel {guest} --json {folder}/none/file", "{folder}/none/file: "),
        ("--kernel {guest} --trace {folder}/none/file", "{folder}/none/file: "),
        ("--kernel {guest} --replay {folder}/text", "{folder}/text:1: is no recording"),
        (
            "--kernel {guest} --replay {folder}/nowhere",
            "{folder}/nowhere: cannot be read",
        ),
        ("--kernel {guest} --stats-every 5", "--stats FILE"),
        ("--kernel {guest} --trace - --gdb 1", "leave out one of them"),
        ("--restore {folder}/text", "is no checkpoint"),
        ("--restore {folder}/nowhere", "{folder}/nowhere: cannot be read"),
        ("--restore {folder}/text --kernel {guest}", "the checkpoint has them"),
        ("--kernel {guest} --nothing", "--nothing"),
    ],
)
def test_a_mistake_is_a_line(guest: Path, folder: Path, words: str, text: str) -> None:
    before = sorted(os.listdir(folder))
    filled = words.format(folder=folder, guest=guest).split()
    done = subprocess.run(
        [MACHINE, "boot", "--limit", "1M", *filled],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    assert text.format(folder=folder) in done.stderr
    assert sorted(os.listdir(folder)) == before


def test_arguments_as_long_as_linux_takes(guest: Path) -> None:
    done = boot(guest, "--append", "x" * 600)
    assert done.status == 2
    assert "it takes 511" in done.message
    done = boot(guest, "--run", 'echo "x"')
    assert done.status == 2
    assert "double quote" in done.message


def test_too_many_devices(guest: Path, disk: Path) -> None:
    words = [word for _ in range(9) for word in ("--disk", str(disk))]
    done = boot(guest, *words)
    assert done.status == 2
    assert done.message.count("\n") == 1


@pytest.mark.parametrize("option", ["--gdb", "--net"])
def test_a_port_that_is_taken(guest: Path, option: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        value = str(port) if option == "--gdb" else f"relay={port}:80"
        done = boot(guest, option, value, "--run", "off")
    assert done.status == 2
    assert done.message.count("\n") == 1
    assert str(port) in done.message


def test_without_an_image_the_remedy_is_said(tmp_path: Path) -> None:
    done = subprocess.run(
        [MACHINE, "boot"],
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert "tandem machine image linux" in done.stderr
    done = subprocess.run(
        [MACHINE, "image", "windows"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert "there is linux" in done.stderr


def test_nothing_is_left_of_a_run_that_could_not_be_saved(guest: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        command(guest, "--run", "off", "--net", "relay", "--save", tmp_path / "saved"),
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert "cannot be saved" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "saved").exists()

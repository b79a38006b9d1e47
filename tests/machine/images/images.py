# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linux on the simulated machine, in the long form: the default image under its own stress script
with 1, 4, 8 and 16 harts, each twice with equal hashes every 10^6 instructions, and under QEMU;
consoles, the network, checkpoints and the debugger on a real kernel.

    images.py [--harts N]... [--only CHECK]...      builds the image if it is not there
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

BUILD = Path(os.environ["TANDEM_BUILD"])
TANDEM = BUILD / "bin" / "tandem"
SOURCE = Path(__file__).resolve().parents[3]
LIMIT = "4G"
TIMEOUT_S = 3600
STEPS = (
    "processes", "pipes", "files", "tcp", "threads", "openmp", "floats", "memcached",
)  # fmt: skip


PROTOCOLS = ("mesi-snoop", "token-b", "sparse-directory", "mosaic", "flask", "flask-plus")


class WrongError(Exception):
    """What a check found."""


def demand(holds: bool, what: str) -> None:
    if not holds:
        raise WrongError(what)


def program(name: str) -> str:
    found = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    if found is None:
        raise WrongError(f"{name} is missing: scripts/setup installs it")
    return found


def make_disk(folder: Path) -> Path:
    disk = folder / "disk.img"
    with disk.open("wb") as file:
        file.truncate(32 << 20)
    subprocess.run(
        [program("mke2fs"), "-q", "-t", "ext2", "-U", "00000000-0000-4000-8000-000000000001",
         "-E", "hash_seed=00000000-0000-4000-8000-000000000002", str(disk)],
        check=True, env={**os.environ, "E2FSPROGS_FAKE_TIME": "1767225600"},
    )  # fmt: skip
    return disk


class Checks:
    def __init__(self, folder: Path, image: Path) -> None:
        self.folder = folder
        self.image = image
        self.disk = make_disk(folder)

    def boot(self, *words: str | Path, given: str = "") -> tuple[int, str, str, dict[str, Any]]:
        result = self.folder / "result.json"
        result.unlink(missing_ok=True)
        limit = [] if "--limit" in words else ["--limit", LIMIT]
        done = subprocess.run(
            [str(TANDEM), "machine", "boot", *map(str, words), *limit, "--json", str(result)],
            input=given.encode(), capture_output=True, check=False, timeout=TIMEOUT_S,
        )  # fmt: skip
        facts = json.loads(result.read_text()) if result.exists() else {}
        return done.returncode, text_of(done.stdout), done.stderr.decode(), facts

    def stress(self, harts: int) -> None:
        """Twice, and QEMU's answers."""
        hashes = []
        shown = ""
        for turn in range(2):
            file = self.folder / f"hashes{turn}"
            status, shown, message, facts = self.boot(
                "--harts", str(harts), "--disk", self.disk, "--run", "stress",
                "--hash-every", "1000000", "--hashes", file,
            )  # fmt: skip
            demand(status == 0, f"status {status}: {message}{shown[-500:]}")
            demand("stress: ok" in shown, shown[-500:])
            demand(facts["reproducible"], "is not reproducible")
            text = file.read_text()
            demand(
                text.count("\n") == facts["instructions"] // 1_000_000,
                "hashes are missing",
            )
            hashes.append(hashlib.sha256(text.encode()).hexdigest())
            note(
                f"{harts} harts: {facts['instructions'] / 1e6:.0f} million instructions, "
                f"{facts['host_seconds']:.1f} s, hashes {hashes[-1][:16]}"
            )
        demand(hashes[0] == hashes[1], "the hashes of two runs differ")
        theirs = answers(self.qemu(harts))
        demand(answers(shown) == theirs, f"ours {answers(shown)}, QEMU's {theirs}")

    def qemu(self, harts: int) -> str:
        done = subprocess.run(
            [program("qemu-system-riscv64"), "-M", "virt", "-smp", str(harts), "-m", "512M",
             "-nographic", "-kernel", self.image / "Image", "-initrd", self.image / "initrd.cpio",
             "-append", 'console=ttyS0 run="stress"', "-global", "virtio-mmio.force-legacy=false",
             "-drive", f"file={self.disk},if=none,id=disk,format=raw,snapshot=on",
             "-device", "virtio-blk-device,drive=disk"],
            stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=TIMEOUT_S,
        )  # fmt: skip
        shown = text_of(done.stdout)
        demand("stress: ok" in shown, f"QEMU: {done.stderr.decode()}{shown[-500:]}")
        return shown

    def shell(self) -> None:
        """Each console takes what is typed, and ends by it."""
        for console in ("uart", "sbi", "virtio"):
            status, shown, message, _ = self.boot(
                "--harts", "4", "--console", console, "--type", "echo $(nproc) $((6 * 7))",
                "--type", "exit",
            )  # fmt: skip
            demand(status == 0, f"{console}: status {status}: {message}{shown[-500:]}")
            demand("\n4 42\n" in shown, f"{console}: {shown[-500:]}")

    def ends(self) -> None:
        status, _, message, facts = self.boot("--run", "false")
        demand(status == 1, f"a command's status: {status}: {message}")
        status, _, message, facts = self.boot("--append", "rdinit=/nothing")
        demand(status == 3 and facts["outcome"] == "panic", f"panic: {status}: {message}")
        demand("Unable to mount root fs" in message, message)
        status, _, message, facts = self.boot("--run", "while :; do :; done", "--limit", "100M")
        demand(
            status == 3 and facts["instructions"] == 100_000_000,
            f"limit: {status}: {message}",
        )
        status, _, message, facts = self.boot("--until", "on 1 harts")
        demand(status == 0 and facts["outcome"] == "until", f"until: {status}: {message}")

    def checkpoint(self) -> None:
        """Saved in the middle of the boot and of the script, gone on, the same as through."""
        made = ["--harts", "4", "--disk", str(self.disk), "--run", "stress"]
        through = self.boot(*made)
        demand(through[0] == 0, through[2])
        for part in (3, 2):
            saved = self.folder / "saved"
            limit = str(through[3]["instructions"] // part)
            begun = self.boot(*made, "--limit", limit, "--save", saved)
            gone_on = self.boot("--restore", saved)
            demand(gone_on[0] == 0, gone_on[2])
            for name in ("instructions", "cycles", "memory_hash", "registers_hash"):
                demand(gone_on[3][name] == through[3][name], f"{name} after {limit}")
            demand(begun[1] + gone_on[1] == through[1], f"the console after {limit}")
        # A machine at its prompt, typed to afterwards.
        self.boot("--harts", "2", "--until", "# ", "--save", saved)
        status, shown, message, _ = self.boot(
            "--restore", saved, given="echo again $(nproc)\nexit\n"
        )
        demand(status == 0 and "again 2" in shown, f"{status}: {message}{shown[-300:]}")

    def network(self) -> None:
        """memcached in the guest, its client here; then two ports and a namespace."""
        port = free_port()
        with subprocess.Popen(
            [TANDEM, "machine", "boot", "--harts", "4", "--limit", LIMIT, "--net",
             f"relay={port}:11211", "--run", "memcached -u root -t 4"],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        ) as machine:  # fmt: skip
            try:
                for number in range(3):
                    demand(ask_memcached(port, number), "memcached's answer")
            finally:
                machine.terminate()
            demand(machine.wait(60) == 130, "the end by a signal")
        both = (
            "unshare -n sh -c 'until ifconfig eth1 10.0.2.16 netmask 255.255.255.0 up 2>/dev/null; "
            "do usleep 10000; done; sleep 1000' & usleep 100000; ip link set eth1 netns $!; "
            "usleep 500000; ping -c 3 10.0.2.16"
        )
        status, shown, message, _ = self.boot("--net", "pair", "--run", both)
        demand(
            status == 0 and "3 packets received" in shown,
            f"{status}: {message}{shown[-500:]}",
        )

    def timing(self) -> None:
        """To a command's end on simulated caches: every protocol with four harts, one hart and
        sixteen, twice the same; from a text on the console on.
        """
        for harts, protocol, words in [
            *((4, protocol, ["--mode", "timing"]) for protocol in PROTOCOLS),
            (1, "flask", ["--mode", "timing", "--check-values"]),
            (4, "flask", ["--mode", "timing", "--set", "hart.model=window"]),
            (16, "flask", ["--mode", "timing"]),
            (16, "mesi-snoop", ["--mode", "warming", "--change", "init process=timing"]),
        ]:
            runs = [
                self.boot(
                    "--harts", str(harts), "--disk", self.disk, "--protocol", protocol, *words,
                    "--run", f"nproc; threads {harts} 100; cp /bin/busybox /disk; sync",
                )
                for _ in range(2 if harts == 16 else 1)
            ]  # fmt: skip
            status, shown, message, facts = runs[0]
            name = f"{harts} harts, {protocol}"
            demand(status == 0, f"{name}: status {status}: {message}{shown[-500:]}")
            demand(f"\n{harts}\n" in shown, f"{name}: {shown[-500:]}")
            counts = facts["timing"]["run"]["counts"]
            demand(counts["devices"]["writes"] > 0, f"{name}: no traffic of devices")
            walks = sum(hart["walk_stall_cycles"] for hart in facts["timing"]["harts"])
            demand(walks > 0, f"{name}: no walks")
            demand(
                all(each[3]["registers_hash"] == facts["registers_hash"] for each in runs)
                and all(each[3]["timing"]["run"]["counts"] == counts for each in runs),
                f"{name}: two runs differ",
            )
            note(
                f"{name}: {facts['instructions'] / 1e6:.0f} million instructions, "
                f"{facts['cycles'] / 1e6:.0f} million cycles, {facts['host_seconds']:.1f} s"
            )

    def values(self) -> None:
        """Every value against the last store, on every protocol with eight harts: from a text of
        the command on, to which the boot goes without time, through processes, threads and files.
        """
        for protocol in PROTOCOLS:
            status, shown, message, facts = self.boot(
                "--harts", "8", "--disk", self.disk, "--protocol", protocol, "--mode", "functional",
                "--change", "from here=timing", "--check-values", "--run",
                "echo from' 'here; threads 8 20; dd if=/bin/busybox of=/disk/part bs=4k count=8; "
                "sync",
            )  # fmt: skip
            demand(status == 0, f"{protocol}: status {status}: {message}{shown[-500:]}")
            counts = facts["timing"]["run"]["counts"]
            demand(counts["devices"]["writes"] > 0, f"{protocol}: no traffic of devices")
            timed = sum(hart["instructions"] for hart in facts["timing"]["harts"])
            demand(timed > 500_000, f"{protocol}: {timed} instructions with time")
            note(
                f"{protocol}: {timed / 1e6:.1f} million instructions checked, "
                f"{facts['host_seconds']:.1f} s"
            )

    def workload(self) -> None:
        """memcached as workloads/harts runs it: every answer right, something measured, twice."""
        harts = self.folder / "harts"
        subprocess.run(
            ["make", "-s", "-f", SOURCE / "workloads/harts/Makefile", f"WORK={harts}",
             harts / "memcached.disk"],
            check=True,
        )  # fmt: skip
        runs = []
        for _ in range(2):
            done = subprocess.run(
                [SOURCE / "workloads/harts/run", TANDEM.parents[1], self.folder, "memcached",
                 "-p", "sparse-directory", "--json", "-"],
                capture_output=True, check=False, timeout=TIMEOUT_S,
            )  # fmt: skip
            said = text_of(done.stderr)
            demand(done.returncode == 0, f"status {done.returncode}: {said[-500:]}")
            demand('"checked": ' in said, said[-500:])
            runs.append(json.loads(done.stdout)["runs"][0])
        demand(runs[0]["counts"] == runs[1]["counts"], "two runs differ")
        demand(runs[0]["instructions"] > 5_000_000, f"{runs[0]['instructions']} instructions")

    def debugger(self) -> None:
        port = free_port()
        with subprocess.Popen(
            [TANDEM, "machine", "boot", "--harts", "2", "--gdb", str(port), "--run", "true"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        ) as machine:  # fmt: skip
            assert machine.stderr is not None
            machine.stderr.readline()
            words = [
                program("gdb-multiarch"),
                "-nx",
                "-q",
                "-batch",
                str(self.image / "vmlinux"),
            ]
            for text in (
                f"target remote :{port}", "break start_kernel", "continue", "backtrace",
                "break smp_callin", "continue", "info threads", "delete", "break do_exit",
                "continue", "backtrace 2", "delete", "continue",
            ):  # fmt: skip
                words += ["-ex", text]
            said = subprocess.run(words, capture_output=True, text=True, check=False, timeout=600)
            machine.communicate(timeout=600)
        for text in (
            "start_kernel ()",
            "smp_callin ()",
            "do_exit ()",
            "exited normally",
        ):
            demand(text in said.stdout, f"no {text!r} in {said.stdout}{said.stderr}")
        demand(machine.returncode == 0, f"status {machine.returncode}")


def text_of(bytes_: bytes) -> str:
    return bytes_.decode(errors="replace").replace("\r", "")


def answers(shown: str) -> dict[str, str]:
    """What each step of the stress script has found."""
    found = dict(re.findall(r"^stress: (\w+): (.*)$", shown, re.MULTILINE))
    demand(tuple(found) == STEPS, f"steps {tuple(found)}")
    return found


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def ask_memcached(port: int, number: int) -> bool:
    """Refused until the relay listens, without an answer until the guest does."""
    value = bytes(65 + (index + number) % 26 for index in range(20_000))
    asked = b"set key 0 0 %d\r\n%s\r\nget key\r\nquit\r\n" % (len(value), value)
    end = time.monotonic() + 300
    while time.monotonic() < end:
        got = b""
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
                connection.sendall(asked)
                while part := connection.recv(65536):
                    got += part
        except ConnectionError:
            got = b""
        if got:
            return got == b"STORED\r\nVALUE key 0 %d\r\n%s\r\nEND\r\n" % (len(value), value)
        time.sleep(0.5)
    return False


def note(text: str) -> None:
    print(f"  {text}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--harts", type=int, action="append")
    parser.add_argument("--only", action="append")
    options = parser.parse_args()
    built = subprocess.run(
        [TANDEM, "machine", "image", "linux"],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if built.returncode != 0:
        return 1
    image = Path(built.stdout.splitlines()[-1])
    failed = 0
    with tempfile.TemporaryDirectory(prefix="tandem-images-") as name:
        checks = Checks(Path(name), image)
        stress: list[tuple[str, Callable[[], None]]] = [
            (f"stress {harts}", lambda harts=harts: checks.stress(harts))  # type: ignore[misc]
            for harts in options.harts or (1, 4, 8, 16)
        ]
        rest = [(check.__name__, check) for check in (
            checks.shell, checks.ends, checks.checkpoint, checks.network, checks.timing,
            checks.values, checks.workload, checks.debugger,
        )]  # fmt: skip
        for title, check in [*stress, *rest]:
            if options.only and title.split()[0] not in options.only:
                continue
            begin = time.monotonic()
            result = "ok"
            try:
                check()
            except (WrongError, OSError, subprocess.SubprocessError) as wrong:
                result = f"FAILED: {wrong}"
                failed = 1
            print(
                f"images: {title}: {result} ({time.monotonic() - begin:.0f} s)",
                flush=True,
            )
    return failed


if __name__ == "__main__":
    sys.exit(main())

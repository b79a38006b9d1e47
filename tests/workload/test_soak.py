# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The soak finds servers that answer wrongly, die or hang up, and a soak in which nothing happened.
With memcached it runs in scripts/verify memcached, for twenty minutes.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tandem.errors import CommandError, UserError
from tandem.workload import cli, replay
from tandem.workload.replay import HASH_POWER, LOADS, build_clients, build_sockets
from tandem.workload.server import ending, serving
from tandem.workload.soak import CLIENTS, Soaked, _killed, _load, print_soak, soak

BUILD = Path(os.environ["TANDEM_BUILD"])
SETTINGS = "operations=100,clients=2,keys=10"


@pytest.fixture(scope="module")
def sockets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_sockets(tmp_path_factory.mktemp("clients"))


@pytest.mark.parametrize(
    ("fault", "status", "said"),
    [("junk", 1, "'JUNK' is no answer"), ("hangup", 3, "went away"), ("dies", 3, "went away")],
)
def test_clients_at_sockets(
    fault: str, status: int, said: str, sockets: Path, fake_memcached: Path
) -> None:
    environment = {**os.environ, "FAULT": fault, "TANDEM_REPLAY": SETTINGS}
    try:
        with serving(fake_memcached, "unix", 1, (), environment) as server:
            done = subprocess.run(
                [str(sockets), server.address],
                capture_output=True,
                text=True,
                env=environment,
                timeout=60,
                check=False,
            )
    except CommandError:
        assert fault == "dies"
    assert (done.returncode, len(done.stderr.splitlines())) == (status, 1)
    assert said in done.stderr


def test_no_server(sockets: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [str(sockets), str(tmp_path / "none")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert "No such file" in done.stderr


@pytest.mark.parametrize(
    ("fault", "said"),
    [("junk", "is no answer"), ("dies", "went away|status 1"), ("hangup", "away")],
)
def test_a_bad_server_ends_the_soak(
    fault: str,
    said: str,
    sockets: Path,
    fake_memcached: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CommandError, match=said):
        soak(
            fake_memcached,
            tmp_path / "libreplay.so",  # the fake asks only whether there is one
            sockets,
            minutes=1,
            threads=1,
            operations=100,
            seed=1,
            environment={**os.environ, "FAULT": fault},
        )


def script(file: Path, text: str) -> Path:
    file.write_text(f"#!{sys.executable}\nimport os, socket, sys\n{text}", encoding="utf-8")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


@pytest.fixture
def content(tmp_path: Path) -> Path:
    """Clients that found all right, without asking."""
    return script(
        tmp_path / "content",
        "told = os.environ['TANDEM_REPLAY'].partition('output=')[2]\n"
        "open(told, 'w').write('{\"checked\": 1}')\n",
    )


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("hangup", "hung up before the end of its statistics"),
        ("partial", "hung up before the end of its statistics"),
        ("refuses", "hung up before|went away while asked for statistics"),
        ("dies", "hung up before|went away while asked for statistics"),
    ],
)
def test_a_server_that_does_not_tell_its_statistics(
    fault: str, said: str, content: Path, fake_memcached: Path, tmp_path: Path
) -> None:
    with pytest.raises(CommandError, match=rf"({said}).*\(seed 7\)$"):
        soak(
            fake_memcached,
            tmp_path / "libreplay.so",
            content,
            minutes=1,
            threads=1,
            operations=100,
            seed=7,
            environment={**os.environ, "FAULT": fault},
        )


@pytest.mark.parametrize("fault", ["hangup", "dies", "junk"])
def test_a_server_that_fails_before_it_is_killed(
    fault: str, sockets: Path, fake_memcached: Path, tmp_path: Path
) -> None:
    environment = {**os.environ, "FAULT": fault}
    with pytest.raises(CommandError, match="no answer" if fault == "junk" else "went away"):
        _killed(fake_memcached, sockets, _load(100, 1), 1, tmp_path, environment, 600.0)


def test_a_server_that_is_killed(fake_memcached: Path, tmp_path: Path) -> None:
    """Clients that stay until the server goes end as clients without a server do."""
    clients = script(
        tmp_path / "clients",
        "try:\n"
        "  s = socket.socket(socket.AF_UNIX)\n"
        "  s.connect(sys.argv[1])\n"
        "  s.recv(1)\n"
        "except OSError:\n"
        "  pass\n"
        "sys.exit(3)\n",
    )
    _killed(fake_memcached, clients, _load(100, 1), 1, tmp_path, os.environ, 0.1)
    assert (tmp_path / "socket").exists()


def test_a_crash_is_told_with_its_signal_and_seed(content: Path, tmp_path: Path) -> None:
    program = tmp_path / "crashes"
    program.write_text("#!/bin/sh\nkill -SEGV $$\n", encoding="utf-8")
    program.chmod(0o755)
    with pytest.raises(CommandError, match=r"SIGSEGV.*\(seed 7\)$"):
        soak(
            program,
            tmp_path / "libreplay.so",
            content,
            minutes=1,
            threads=1,
            operations=100,
            seed=7,
            environment=os.environ,
        )


def test_ends() -> None:
    assert [ending(x) for x in (0, 3, -11, -250)] == [
        "status 0",
        "status 3",
        "SIGSEGV",
        "signal 250",
    ]


@pytest.mark.parametrize("action", ["soak", "load"])
def test_a_folder_for_temporary_files_that_is_too_deep(
    action: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    deep = tmp_path / ("x" * 100)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    over = ["--tool", "memcslap", "--over", "unix"] if action == "load" else []
    assert cli.main(["memcached", action, *over, "--folder", str(tmp_path / "own")]) == 2
    assert "too long for a unix socket" in capfd.readouterr().err
    assert not (tmp_path / "own").exists()
    with (
        pytest.raises(UserError, match="set a shorter TMPDIR"),
        serving(Path("/bin/false"), "unix", 1, (), os.environ),
    ):
        pass


def test_a_lost_connection_is_not_a_reader_that_left(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def lose(_: object) -> int:
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr(cli, "_act", lose)
    assert cli.main(["memcached", "soak"]) == 1
    assert "a connection was lost" in capfd.readouterr().err


@pytest.mark.parametrize("passed", [True, False])
def test_a_verdict_that_nobody_reads_keeps_its_status(passed: bool) -> None:
    """And a check whose reader left before its end has not passed."""
    text = (
        "import sys\n"
        "from tandem.workload import cli\n"
        "def act(_):\n"
        "    sys.stdout.write('x')\n"
        f"    {'pass' if passed else 'sys.stdout.flush()'}\n"
        "    return 0\n"
        "cli._act = act\n"
        "sys.exit(cli.main(['memcached', 'soak']))\n"
    )
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-c", text],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env={k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"},
    )
    os.close(writer)
    assert (done.returncode, len(done.stderr.splitlines())) == ((0, 0) if passed else (1, 1))


def test_a_soak_in_which_something_did_not_happen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    result = Soaked(1.0, {"inside": 1}, 100)
    result.events |= dict.fromkeys(result.events, 1)
    assert print_soak(result, "x")
    result.events["slab pages moved"] = 0
    assert not print_soak(result, "x")
    assert "FAILED: no slab pages moved" in capsys.readouterr().out


def test_the_hash_table_grows_once_in_a_process() -> None:
    # A second growth soon after the first can dead-lock memcached (docs/memcached.md).
    mixed = LOADS["mixed"].settings
    # Of each client, and of all; what load.c has where nothing is said.
    private_keys, counters = 100, 16
    assert not {"private-keys", "counters"} & mixed.keys()
    items = int(mixed["keys"]) + CLIENTS * private_keys + counters
    first = 3 * 2**HASH_POWER // 2
    assert first < items < 2 * first


def test_the_clients_inside_are_built_where_something_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = tmp_path / "sources"
    shutil.copytree(replay.SOURCES, sources)
    monkeypatch.setattr(replay, "SOURCES", sources)
    library = build_clients(tmp_path)
    built = library.stat().st_mtime_ns
    assert build_clients(tmp_path).stat().st_mtime_ns == built
    source = sources / "client.c"
    source.write_text(source.read_text(encoding="utf-8") + "extern int one_more;\n")
    assert build_clients(tmp_path).stat().st_mtime_ns > built

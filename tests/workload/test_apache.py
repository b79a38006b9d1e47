# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The store of mod_cache_tandem in process: what is stored is what is found, under every
enforcement; and a replay that would not notice is no replay, so mistakes are put into the store.
Needs no httpd.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tandem.errors import CommandError, UserError
from tandem.paths import ROOT
from tandem.workload.apache.build import OF_MACHINE, build, report_of
from tandem.workload.apache.replay import Machine, run_once
from tandem.workload.apache.steps import STEPS, SectionClass, classes, measure_steps

BUILD = Path(os.environ["TANDEM_BUILD"])
ENVIRONMENT = os.environ | {"LD_LIBRARY_PATH": str(BUILD / "lib")}
ENFORCED = ("mutex", "global-lock", "locks", "stm", "hybrid", "htm")
SMALL = ("--check", "--operations=4000", "--keys=600", "--changes=200")
TIGHT = ("--bytes=1500000", "--objects=100")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return build(tmp_path_factory.mktemp("apache"), BUILD, "replay", ENFORCED, 2)


@pytest.mark.parametrize("variant", ENFORCED)
@pytest.mark.parametrize("threads", [1, 2, 3, 4])
def test_what_is_stored_is_what_is_found(
    variant: str, threads: int, programs: dict[str, Path]
) -> None:
    policy = ("gdsf", "lru")[threads % 2]
    told = [*SMALL, *TIGHT, f"--threads={threads}", f"--seed={threads}", f"--policy={policy}"]
    result = run_once(programs[variant], told, ENVIRONMENT)
    assert result["operations"] == 4000 * threads
    assert result["linked"] <= 100
    assert result["charged"] <= 1500000
    for name in ("hits", "stores", "compared", "evictions", "removals"):
        assert result[name] > 0, name


def test_transactions_alone(programs: dict[str, Path]) -> None:
    """`hybrid` without its phase of locks."""
    environment = {**ENVIRONMENT, "TANDEM_HYBRID": "transactions"}
    result = run_once(programs["hybrid"], [*SMALL, *TIGHT, "--threads=4"], environment)
    assert result["hits"] > 0


@pytest.mark.parametrize("policy", ["gdsf", "lru"])
def test_one_thread_finds_the_same_in_every_variant(policy: str, programs: dict[str, Path]) -> None:
    told = ["--operations=5000", "--keys=600", "--objects=100", f"--policy={policy}"]
    results = [run_once(x, told, ENVIRONMENT) for x in programs.values()]
    assert len({(x["hits"], x["evictions"], x["charged"]) for x in results}) == 1


def test_processes_share_it_and_are_killed(programs: dict[str, Path]) -> None:
    told = ["--processes=3", "--threads=2", "--check", "--operations=6000", "--bytes=1500000"]
    assert run_once(programs["mutex"], told, ENVIRONMENT)["hits"] > 0
    killed = run_once(programs["hybrid"], [*told, "--kills=10"], ENVIRONMENT)
    assert killed["operations"] == 36000


def test_a_stream_from_a_file(tmp_path: Path, programs: dict[str, Path]) -> None:
    stream = tmp_path / "stream"
    stream.write_text("b\na\t70\nb\nb\na\n", encoding="utf-8")
    told = [f"--stream={stream}", "--operations=5", "--check", "--changes=0"]
    result = run_once(programs["mutex"], told, ENVIRONMENT)
    assert (result["stores"], result["hits"]) == (2, 3)


@pytest.mark.parametrize(
    ("told", "why"),
    [
        (["--threads=0"], "--threads wants a number from 1 to 256"),
        (["--threads"], "lacks its value"),
        (["--objects=-1"], "--objects wants a number"),
        (["--s=nan"], "--s wants a number from 0 to 10"),
        (["--policy=fifo"], "--policy is gdsf or lru"),
        (["--bytes=100"], "--bytes wants a number from 65536"),
        (["--bytes=9000000000000"], "the store cannot be made"),
        (["--kills=1"], "--kills needs --processes"),
        (["more"], "'more' is no option"),
        (["--stream=/no/such/file"], "/no/such/file: No such file"),
    ],
)
def test_bad_options(told: list[str], why: str, programs: dict[str, Path]) -> None:
    with pytest.raises(UserError, match=why):
        run_once(programs["mutex"], told, ENVIRONMENT)


@pytest.mark.parametrize(
    ("text", "why"), [("", "is empty"), ("a\n\nb\n", "without a key"), ("a\tx\n", "a size")]
)
def test_bad_streams(text: str, why: str, tmp_path: Path, programs: dict[str, Path]) -> None:
    stream = tmp_path / "stream"
    stream.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=why):
        run_once(programs["mutex"], [f"--stream={stream}"], ENVIRONMENT)


def test_on_harts(tmp_path: Path) -> None:
    """The same program for the simulated machine finds what it finds here. What is measured has the
    time of the protocol, and is the same each time.
    """
    made = build(tmp_path, BUILD, "machine", OF_MACHINE, 2)
    told = ["--keys=60", "--objects=20", "--operations=60", "--warm-up=100"]
    here = run_once(build(tmp_path, BUILD, "replay", ["mutex"], 2)["mutex"], told, ENVIRONMENT)
    seconds = {}
    for variant in OF_MACHINE:
        for protocol in (None, "mesi-snoop"):
            under = Machine(BUILD, protocol).command(variant, 1)
            one = run_once(made[variant], told, os.environ, under=under)
            assert all(one[x] == here[x] for x in ("hits", "stores", "evictions", "charged"))
            seconds[variant, protocol] = one["seconds"]
    assert seconds["sequential", None] < seconds["mutex", None] < seconds["mutex", "mesi-snoop"]
    assert run_once(made[variant], told, os.environ, under=under)["seconds"] == one["seconds"]
    for variant in OF_MACHINE[1:]:
        under = Machine(BUILD, "mesi-snoop").command(variant, 3)
        three = run_once(made[variant], [*told, "--threads=3", "--check"], os.environ, under=under)
        assert three["operations"] == 180
        assert three["compared"] > 0


MISTAKES = {
    "an object is found that nobody holds": (
        "core.c",
        "    object->opened++;\n    core_touch",
        "    core_touch",
    ),
    "a key's hash is enough": (
        "core.c",
        "object->hash == hash && object->key_bytes == key_bytes &&\n"
        "        memcmp(object_key(object), key, key_bytes) == 0",
        "((object->hash ^ hash) & core->mask) == 0",
    ),
    "what is replaced stays": ("core.c", "if (old != NULL) {", "if (old != NULL && now % 2) {"),
    "what is evicted is still charged": ("core.c", "  core->charged -= freed;\n", ""),
    "the cap on objects does not hold": (
        "core.c",
        "while (core->linked >= core->most_objects)",
        "while (core->linked >= core->most_objects + 1)",
    ),
    "a part is cut short": (
        "store.c",
        "part->bytes += (uint32_t)now;",
        "part->bytes += (uint32_t)now - (now > 1000);",
    ),
    "a refreshed body is freed": (
        "store.c",
        "    body->references++;\n  return may;",
        "    ;\n  return may;",
    ),
    "what was opened is not settled": ("core.h", "(int64_t)object->opened + kLinked", "kLinked"),
    "what is linked looks unlinked": ("store.c", "  core_offer(object);\n", ""),
    "who gives the last reference back frees nothing": (
        "store.c",
        "  if (!core_release(object))\n    return;",
        "  if (!core_release(object) || object->opened != 0)\n    return;",
    ),
    "what is removed is still found": ("core.c", "  *link = object->next;\n  leave", "  leave"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_noticed(name: str, tmp_path: Path) -> None:
    file, right, wrong = MISTAKES[name]
    sources = tmp_path / "apache"
    shutil.copytree(ROOT / "workloads" / "apache", sources)
    text = (sources / "store" / file).read_text(encoding="utf-8")
    assert text.count(right) == 1
    (sources / "store" / file).write_text(text.replace(right, wrong), encoding="utf-8")
    program = tmp_path / "replay"
    command = ["clang-19", "-std=gnu17", "-D_GNU_SOURCE", "-O1", "-pthread", "-DSTORE_MUTEX"]
    command += [f"-I{ROOT / 'include'}"]
    command += [str(x) for x in sorted(sources.glob("store/*.c"))]
    command += [str(x) for x in sorted(sources.glob("replay/*.c"))]
    subprocess.run([*command, "-lm", "-o", str(program)], check=True)
    with pytest.raises(CommandError):
        run_once(program, [*SMALL, *TIGHT, "--threads=2"], os.environ, timeout_s=60)


def test_the_sections_can_be_undone(programs: dict[str, Path]) -> None:
    """Nothing irrevocable is left in any section that the source marks."""
    done = subprocess.run(
        [str(BUILD / "bin" / "tandem"), "analyze", str(programs["hybrid"]) + ".json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "5 atomic sections: 0 non-revocable" in done.stdout


def test_the_published_steps(tmp_path: Path) -> None:
    """Registering inside makes the section irrevocable, and none of the other ways does."""
    program = build(tmp_path, BUILD, "steps", ["stm"], 2)["stm"]
    found = classes(report_of(program))
    assert found[STEPS["inside"]] == SectionClass("non-revocable", ("pool_register",))
    for name in ("behind", "handler", "closure"):
        assert found[STEPS[name]] == SectionClass("hybrid", ())
    for result in measure_steps({"stm": program}, [3], 1, 5000, ENVIRONMENT):
        assert result.rates[0] > 0


def test_httpd_2_2s_algorithm(tmp_path: Path) -> None:
    """Its lock is converted without a change; six sections can be undone once the patch is in."""
    for target, irrevocable in (("legacy", 6), ("revocable", 0)):
        program = build(tmp_path, BUILD, target, ["stm"], 2)["stm"]
        found = classes(report_of(program))
        assert sum(x.name == "non-revocable" for x in found.values()) == irrevocable
        result = run_once(program, [*SMALL, *TIGHT, "--threads=3"], ENVIRONMENT)
        assert result["hits"] > 0


@pytest.fixture
def refused() -> Callable[[list[str], str], None]:
    def check(words: list[str], why: str) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "tandem.workload", "apache", *words],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2, done.stderr
        assert why in done.stderr.splitlines()[-1]

    return check


def test_bad_commands(refused: Callable[[list[str], str], None]) -> None:
    refused([], "the following arguments are required")
    refused(["boil"], "invalid choice: 'boil'")
    refused(["steps", "--variant", "mutex"], "has no commit handlers")
    refused(["replay", "--protocol", "flask", "--variant", "mutex-tsan"], "is not made for the sim")
    refused(["replay", "--protocol", "flask", "--algorithm", "legacy"], "leave --protocol out")
    refused(["soak", "--protocol", "flask"], "--protocol is an option of replay")
    refused(["replay", "--variant", "socache"], "is none of replay's")
    refused(["suite", "--threads", "2"], "--threads is an option of replay")
    refused(["load", "--s", "many"], "is not a list of numbers from 0 to 10")

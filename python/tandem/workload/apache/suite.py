# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""http-cache-tests, and checks of our own, of mod_cache_tandem beside what httpd ships, in one run.

http-cache-tests waits and watches ages, so a few of its tests now and then end otherwise. A test
counts against mod_cache_tandem where it is required, passes with mod_cache_disk, and fails twice.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tandem.errors import CommandError, UserError
from tandem.paths import ROOT
from tandem.workload.apache.checks import run_checks
from tandem.workload.apache.httpd import Site, serving
from tandem.workload.steps import must_run, say

__all__ = ["Subject", "SuiteResult", "print_suite", "run_suite"]

PACKAGE, VERSION = "http-cache-tests", "0.4.5"
HELPERS = ROOT / "workloads" / "apache" / "tests"
RUN_SECONDS = 600.0  # 60 s at rest
CLIENTS = 128  # it asks for a hundred things at a time
# As its authors configure httpd.
SETTINGS = (
    "CacheDefaultExpire 0",
    "CacheIgnoreNoLastMod on",
    "CacheStoreExpired on",
    "UseCanonicalName on",
    "CacheDetailHeader on",
)


@dataclass(frozen=True)
class Subject:
    """What is tested: a cache that httpd ships, or a variant of mod_cache_tandem."""

    name: str
    module: Path | None  # null: shipped
    environment: dict[str, str]

    @property
    def cache(self) -> str:
        return "tandem" if self.module is not None else self.name


@dataclass
class SuiteResult:
    subject: Subject
    required: int = 0  # tests that were run; those for browsers only are not
    browser_only: int = 0
    runs: list[set[str]] = field(default_factory=list)  # required tests that passed
    checks: dict[str, str | None] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)  # passed with disk, failed twice here


def _install(folder: Path) -> Path:
    """The package, fetched once; its folder."""
    home = folder / f"{PACKAGE}-{VERSION}"
    package = home / "node_modules" / PACKAGE
    if (home / ".complete").is_file():
        return package
    if shutil.which("npm") is None or shutil.which("node") is None:
        raise UserError("node and npm are missing; run: apt-get install nodejs npm")
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    say(f"fetching {PACKAGE} {VERSION}")
    command = ["npm", "install", "--prefix", str(home), "--ignore-scripts", "--no-audit"]
    must_run(
        [*command, f"{PACKAGE}@{VERSION}"],
        folder=home,
        environment=dict(os.environ),
        log=home / "npm.log",
    )
    (home / ".complete").touch()
    return package


def _kinds(package: Path) -> dict[str, str]:
    done = subprocess.run(
        ["node", str(HELPERS / "kinds.mjs"), str(package)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if done.returncode != 0:
        raise CommandError(f"{PACKAGE}: its tests cannot be listed: {done.stderr.strip()[-300:]}")
    kinds: dict[str, str] = json.loads(done.stdout)
    return kinds


@contextmanager
def _origin(package: Path, folder: Path) -> Iterator[int]:
    """Its origin server; the port."""
    environment = os.environ | {
        "npm_config_protocol": "http",
        "npm_config_port": "0",
        "npm_config_pidfile": str(folder / "origin.pid"),
    }
    process = subprocess.Popen(
        ["node", "--require", str(HELPERS / "loopback.cjs"), "server/server.mjs"],
        cwd=package,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        port = line.strip().rstrip("/").rpartition(":")[2]
        if not port.isdigit():
            raise CommandError(f"{PACKAGE}: its server did not start: {line.strip()}")
        yield int(port)
    finally:
        process.kill()
        process.wait()


def _run_once(package: Path, folder: Path, subject: Subject) -> dict[str, object]:
    """Every test's result, as the package tells it."""
    with _origin(package, folder) as port:
        # A connection that one side closes as the other one writes would be counted as a failure.
        body = f'KeepAlive off\nProxyPass / "http://127.0.0.1:{port}/" disablereuse=on'
        site = Site(subject.cache, subject.module, body, SETTINGS, 1, CLIENTS, subject.environment)
        with serving(site) as server:
            done = subprocess.run(
                ["node", "--no-warnings", "cli.mjs"],
                cwd=package,
                env=os.environ
                | {"npm_config_base": f"http://{server.address}", "npm_package_config_id": ""},
                capture_output=True,
                text=True,
                check=False,
                timeout=RUN_SECONDS,
            )
    try:
        results: dict[str, object] = json.loads(done.stdout[done.stdout.index("{") :])
    except ValueError as error:
        raise CommandError(
            f"{PACKAGE}: no results: {(done.stderr or done.stdout).strip()[-300:]}"
        ) from error
    return results


def _conformance(package: Path, folder: Path, results: Sequence[SuiteResult]) -> None:
    kinds = _kinds(package)
    required = {name for name, kind in kinds.items() if kind == "required"}

    def run(result: SuiteResult) -> set[str]:
        say(f"{PACKAGE}: {result.subject.name}, run {len(result.runs) + 1}")
        answers = _run_once(package, folder, result.subject)
        ran = required & answers.keys()
        passed = {name for name in ran if answers[name] is True}
        if not passed:
            raise CommandError(f"{PACKAGE}: {result.subject.name}: not one test passed")
        result.required = len(ran)
        result.browser_only = len(required) - len(ran)
        result.runs.append(passed)
        return passed

    for result in results:
        run(result)
    disk = next((x for x in results if x.subject.name == "disk"), None)
    if disk is None:
        return
    for result in results:
        if result.subject.module is None or not disk.runs[0] - result.runs[0]:
            continue
        again = run(result)
        result.lost = sorted(disk.runs[0] - result.runs[0] - again)
    # A test that disk itself passes only in some runs does not count as lost.
    if any(x.lost for x in results):
        steady = run(disk)
        for result in results:
            result.lost = [x for x in result.lost if x in steady]


def run_suite(
    folder: Path, subjects: Sequence[Subject], parts: Sequence[str], only: Sequence[str]
) -> list[SuiteResult]:
    """`parts`: conformance, checks. CommandError where a server or a tool fails."""
    results = [SuiteResult(x) for x in subjects]
    if "conformance" in parts:
        _conformance(_install(folder), folder, results)
    if "checks" in parts:
        for result in results:
            subject = result.subject
            if subject.cache != "none":
                say(f"checks of {subject.name}")
                result.checks = run_checks(subject.cache, subject.module, subject.environment, only)
    return results


def print_suite(results: Sequence[SuiteResult]) -> bool:
    """Tables; whether all of mod_cache_tandem's passed."""
    passed = True
    if any(x.runs for x in results):
        print(f"\n{PACKAGE} {VERSION}: required tests passed\n")
        for result in results:
            runs = ", ".join(str(len(x)) for x in result.runs)
            rest = f" ({result.browser_only} more need a browser)" if result.browser_only else ""
            print(f"  {result.subject.name:<14}{runs:>10} of {result.required}{rest}")
            if result.lost:
                passed = False
                print(f"    FAILED twice, passed with disk: {', '.join(result.lost)}")
    for result in results:
        if not result.checks:
            continue
        print(f"\nchecks of {result.subject.name}\n")
        for name, wrong in result.checks.items():
            print(f"  {name:<32}{'ok' if wrong is None else wrong}")
            passed = passed and (wrong is None or result.subject.module is None)
    print("\npassed" if passed else "\nfailed")
    return passed

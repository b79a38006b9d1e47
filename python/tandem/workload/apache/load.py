# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Load over HTTP: man2html over the machine's manual pages, asked for by siege with lists of URLs
by Zipf's law; caches take turns, round by round, each on a server of its own.
"""

from __future__ import annotations

import gzip
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tandem.errors import CommandError, UserError
from tandem.statistics import median
from tandem.workload.apache.httpd import Httpd, Site, serving
from tandem.workload.apache.suite import Subject
from tandem.workload.steps import say

__all__ = ["Measured", "load", "load_json", "manual_pages", "print_load", "zipf"]

MANUALS = Path("/usr/share/man")
MOST_PAGES = 9120  # as many as the published runs had
CLIENTS = 8
THREADS = 25  # of the server
TIMEOUT_S = 900.0
OBJECTS = 1009  # the cap of the published runs
# Pages are made from a file of the machine's, by its number in a list, so that no request names
# a path. They say how long they are: mod_cache_socache stores no others.
SCRIPT = """#!/bin/sh
page=$(sed -n "${PATH_INFO#/}p" '%s')
[ -n "$page" ] || { printf 'Status: 404\\r\\n\\r\\n'; exit; }
text=$(zcat "$page" | man2html; echo .)
body=${text#*

}
date=$(date -u -r "$page" '+%%a, %%d %%b %%Y %%T GMT')
printf '%%s\\r\\n' 'Content-Type: text/html; charset=UTF-8' "Last-Modified: $date" \\
  "Content-Length: $((${#body} - 1))" ''
printf %%s "${body%%.}"
"""


@dataclass(frozen=True)
class Measured:
    """One cache at one exponent; round i took turns with the others'."""

    name: str
    s: float
    rates: tuple[float, ...]  # requests a second
    cpu_us: tuple[float, ...]  # of the server's processes, of a request; without CGI programs
    hits: tuple[float, ...]  # share of the look-ups of all requests; none where it is not counted


# man2html takes for manual pages what begins with one of these requests.
_REQUEST = re.compile(rb"^\.([A-Za-z]+)", re.MULTILINE)
_TAKEN = {b"Dd", b"TH", b"de", b"ds", b"lf"}


def _has_text(page: Path) -> bool:
    """Whether man2html will make a page of it: it is more than a reference to another one."""
    try:
        with gzip.open(page) as file:
            first = _REQUEST.search(file.read(4096))
    except (OSError, EOFError):
        return False
    return first is not None and first[1] in _TAKEN


def manual_pages() -> list[Path]:
    """UserError where the machine has none, or a tool is missing."""
    for tool, package in (("man2html", "man2html-base"), ("siege", "siege"), ("zcat", "gzip")):
        if shutil.which(tool) is None:
            raise UserError(f"{tool} is not installed; run: apt-get install {package}")
    found = sorted(x for x in MANUALS.glob("man*/*.gz") if x.is_file())
    pages = [*itertools.islice(filter(_has_text, found), MOST_PAGES)]
    if len(pages) < 100:
        raise UserError(f"{MANUALS}: has {len(pages)} manual pages; install some, as manpages-dev")
    return pages


def zipf(count: int, s: float, length: int, seed: int) -> list[int]:
    """Numbers from 1 to `count`, number i in proportion to i^-s."""
    chooser = random.Random(seed)
    sums = list(itertools.accumulate(i**-s for i in range(1, count + 1)))
    return chooser.choices(range(1, count + 1), cum_weights=sums, k=length)


def _site(subject: Subject, folder: Path, warm: bool, threads: int) -> Site:
    body = "\n".join(
        [
            f'ScriptAlias /man "{folder / "man.sh"}"',
            f'<Directory "{folder}">\nRequire all granted\n</Directory>',
            "SetEnv ap_trust_cgilike_cl 1",  # else httpd drops the length that the script says
            "ExpiresActive on",
            'ExpiresDefault "access plus 1 day"',
        ]
    )
    settings: list[str] = []
    if subject.module is not None:
        settings = ["CacheTandemSize 512M"] if warm else [f"CacheTandemObjects {OBJECTS}"]
    return Site(
        subject.cache,
        subject.module,
        body,
        settings,
        threads=threads,
        environment=subject.environment,
    )


_RATE = re.compile(r'"transaction_rate":\s*([\d.]+)')
_FAILED = re.compile(r'"failed_transactions":\s*(\d+)')
_DONE = re.compile(r'"transactions":\s*(\d+)')


def _siege(urls: Path, requests: int, home: Path) -> float:
    """Its requests a second. CommandError where one failed."""
    settings = home / "siegerc"
    settings.write_text(
        "parser = false\nlogging = false\nverbose = false\nbenchmark = true\n"
        f"concurrent = {CLIENTS}\njson_output = true\nlimit = 255\n",
        encoding="utf-8",
    )
    command = ["timeout", str(int(TIMEOUT_S)), "siege", f"--rc={settings}", "--no-parser"]
    command += [f"--file={urls}", f"--concurrent={CLIENTS}", "--benchmark"]
    command += [f"--reps={requests // CLIENTS}"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        env=os.environ | {"HOME": str(home)},
    )
    rate, failed, count = (x.search(done.stdout) for x in (_RATE, _FAILED, _DONE))
    if rate is None or failed is None or count is None:
        raise CommandError(f"siege failed: {(done.stderr or done.stdout).strip()[-200:]}")
    if int(failed[1]) or int(count[1]) < requests // CLIENTS * CLIENTS:
        raise CommandError(f"siege: {failed[1]} of {requests} requests failed, {count[1]} done")
    return float(rate[1])


def _share_of_hits(server: Httpd, subject: Subject) -> float | None:
    if subject.module is None:
        return None
    counts = server.status()
    return counts["Hits"] / max(1, counts["Hits"] + counts["Misses"])


def _urls(server: Httpd, numbers: Sequence[int], folder: Path) -> Path:
    file = folder / "urls"
    file.write_text(
        "".join(f"http://{server.address}/man/{x}\n" for x in numbers), encoding="utf-8"
    )
    return file


def load(
    subjects: Sequence[Subject],
    laws: Sequence[float],
    rounds: int,
    requests: int,
    seed: int,
    warm: bool,
    threads: int = THREADS,
) -> list[Measured]:
    """Each of `subjects` with each exponent, `rounds` times in turn. The caches are empty at the
    beginning of each run and have the published cap, or with `warm` every page was asked for
    before, and nothing is capped that can hold all.
    """
    pages = manual_pages()
    results: dict[tuple[float, str], list[tuple[float, float, float | None]]] = {}
    with tempfile.TemporaryDirectory(prefix="tandem-apache-load-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "pages").write_text("".join(f"{x}\n" for x in pages), encoding="utf-8")
        script = folder / "man.sh"
        script.write_text(SCRIPT % (folder / "pages"), encoding="utf-8")
        script.chmod(0o755)
        for number, s in itertools.product(range(rounds), laws):
            order = zipf(len(pages), s, requests, seed + number)
            for subject in subjects:
                say(f"load: round {number + 1} of {rounds}: {subject.name}, s {s}")
                with serving(_site(subject, folder, warm, threads)) as server:
                    if warm and subject.name != "none":
                        distinct = sorted(set(order))
                        while len(distinct) % CLIENTS:
                            distinct.append(distinct[0])
                        _siege(_urls(server, distinct, folder), len(distinct), folder)
                    before = server.cpu_seconds()
                    rate = _siege(_urls(server, order, folder), requests, folder)
                    cpu_us = 1e6 * (server.cpu_seconds() - before) / requests
                    hits = _share_of_hits(server, subject)
                results.setdefault((s, subject.name), []).append((rate, cpu_us, hits))
    return [
        Measured(
            name,
            s,
            tuple(x for x, _, _ in runs),
            tuple(x for _, x, _ in runs),
            tuple(x for _, _, x in runs if x is not None),
        )
        for (s, name), runs in results.items()
    ]


def print_load(results: Sequence[Measured]) -> None:
    print("\n  s     cache            requests/s   ratio to the first (spread)    CPU us      hits")
    for result in results:
        first = next(x for x in results if x.s == result.s)
        ratios = [a / b for a, b in zip(result.rates, first.rates, strict=True)]
        hits = f"{100 * median(result.hits):>10.1f} %" if result.hits else ""
        print(
            f"  {result.s:<6g}{result.name:<14}{median(result.rates):>13,.0f}"
            f"{median(ratios):>10.2f} ({min(ratios):.2f} - {max(ratios):.2f})"
            f"{median(result.cpu_us):>14,.0f}"
            f"{hits}"
        )


def load_json(results: Sequence[Measured]) -> str:
    runs = [
        {
            "cache": x.name,
            "s": x.s,
            "requests_per_second": [*x.rates],
            "cpu_us_per_request": [*x.cpu_us],
            "hits": [*x.hits],
        }
        for x in results
    ]
    return json.dumps({"version": 1, "runs": runs}, indent=1) + "\n"

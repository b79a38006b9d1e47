# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""memcached from Debian's source package, or from a folder of the user's, with nothing changed:
fetched, built, analysed, tested.

FOLDER/source/           the package as dpkg-source unpacks it; never built in
FOLDER/1.4.15/           in place of FOLDER below: built from a user's folder of that version
FOLDER/VARIANT/tree/     a copy of it, built by ./configure && make
FOLDER/VARIANT/reports/  one report for each linked program
FOLDER/VARIANT/*.log     what configure, make and the test suite printed
FOLDER/VARIANT/built     what the build was made of; written last
FOLDER/VARIANT/refused   in its place: why the compiler refuses to convert the locks
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tandem.errors import CommandError, FormatError, UserError
from tandem.paths import ROOT
from tandem.workload.asan import PLUGIN, build_late_asan
from tandem.workload.sites import Comparison, Site, compare, count_calls
from tandem.workload.steps import Meter, must_run, say
from tandem.workload.stock_libitm import build_stock_libitm
from tandem.workload.suite import SuiteResult, run_suite
from tandem.workload.variants import PROGRAMS, VARIANTS, Variant
from tandem.workload.versions import DEBIAN, Given, Version

__all__ = ["CONVERSIONS", "Memcached", "refusal"]

PACKAGE = "memcached"
CONVERSIONS = ROOT / "workloads" / "memcached"
# What every refusal of a lock says, and no other message: what becomes of that lock.
_REFUSES = re.compile(r"\bkeep\b|\bcan(?:not)? become a section|cannot stay real|name both there")


@dataclass(frozen=True)
class Memcached:
    """One variant below `folder`; `prefix` is Tandem's installation or build tree."""

    folder: Path
    prefix: Path
    variant: Variant
    jobs: int  # of make
    given: Given | None = None  # the user's source; None: Debian's

    @property
    def version(self) -> Version:
        return self.given.version if self.given else DEBIAN

    @property
    def source(self) -> Path:
        return self.given.folder if self.given else self.folder / "source"

    @property
    def own(self) -> Path:
        base = self.folder / self.given.number if self.given else self.folder
        return base / self.variant.name

    @property
    def tree(self) -> Path:
        return self.own / "tree"

    @property
    def report(self) -> Path:
        return self.own / "reports" / "memcached.json"

    def fetch(self) -> str:
        """Fetches and unpacks the source package; prints its version and checksums.
        Result: `memcached VERSION`, of a user's source its digest, too. CommandError where it
        cannot be fetched.
        """
        if self.given:
            return f"{PACKAGE} {self.given.number} {self.given.digest}"
        script = ROOT / "scripts" / "fetch-source"
        if not script.exists():
            raise UserError(f"{script}: not found; run `tandem workload` from a checkout of Tandem")
        done = subprocess.run(
            [str(script), PACKAGE, str(self.source)], stdout=subprocess.PIPE, text=True, check=False
        )
        if done.returncode != 0:
            raise CommandError(f"the source package {PACKAGE} could not be fetched; see above")
        print(done.stdout, end="", flush=True)
        return done.stdout.partition("\n")[0]

    @property
    def shared_parts(self) -> tuple[bool, bool]:
        """Which parts build_shared() makes."""
        return self.variant.on_libitm, self.variant.late_asan

    def build_shared(self) -> None:
        """Builds what this variant shares with others in `folder`, none of which may be built
        meanwhile. CommandError where it fails.
        """
        if self.variant.on_libitm:
            build_stock_libitm(self.folder / "stock_libitm")
        if self.variant.late_asan:
            build_late_asan(self.folder / "asan")

    def build(
        self, programs: Sequence[str] = PROGRAMS[:1], *, refusals: bool = False, shared: bool = True
    ) -> str:
        """Fetches and builds `programs`, where something has changed, without `shared` those parts
        not that other variants have too; empty, or with `refusals` why the compiler refuses to
        convert the locks. CommandError where it fails.
        """
        if shared:
            self.build_shared()
        self._check_conversion()
        key = self._key(self.fetch())
        stamp, refused = self.own / "built", self.own / "refused"
        if _read(stamp) == key:
            missing = [x for x in programs if not (self.tree / x).exists()]
            if missing:
                self._make(missing, self._environment())
            else:
                say(f"memcached ({self.variant.name}) is built: {self.tree}")
            return ""
        known, _, why = _read(refused).rpartition("\n\n")
        if refusals and known == key:
            say(f"memcached ({self.variant.name}): refused by the compiler: {why}")
            return why
        if self.own.exists():
            shutil.rmtree(self.own)
        (self.own / "reports").mkdir(parents=True)
        shutil.copytree(
            self.source, self.tree, symlinks=True, ignore=shutil.ignore_patterns(".git")
        )
        self._join_conversions()
        environment = self._environment()
        say(f"memcached ({self.variant.name}): configuring {self.tree}")
        must_run(
            ["./configure", *self.version.configure, *map(self._fill, self.variant.configure)],
            folder=self.tree,
            environment=environment,
            log=self.own / "configure.log",
        )
        self._define()
        try:
            self._make(programs, environment)
        except CommandError:
            why = refusal(_read(self.own / "make.log"))
            if not refusals or not why:
                raise
            refused.write_text(f"{key}\n\n{why}", encoding="utf-8")
            say(f"memcached ({self.variant.name}): refused by the compiler: {why}")
            return why
        if self.variant.on_libitm and "memcached" in programs:
            # All that the conversion calls must be there, not only what a first run comes to.
            must_run(
                [str(self.tree / "memcached"), "-V"],
                folder=self.tree,
                environment=environment | {"LD_BIND_NOW": "1"},
                log=self.own / "start.log",
            )
        stamp.write_text(key, encoding="utf-8")
        return ""

    def conversion_files(self) -> list[Path]:
        """What TANDEM_CONVERT is made of."""
        names = self.variant.environment.get("TANDEM_CONVERT", "").split("+")
        folder = CONVERSIONS / self.version.conversions
        files = [x.removeprefix("{conversions}/") for x in names if x]
        if files and self.variant.plain_counts and self.version.counts_conversion:
            files.append(self.version.counts_conversion)
        return [folder / x for x in files]

    def _check_conversion(self) -> None:
        missing = [x for x in self.conversion_files() if not x.is_file()]
        if missing:
            raise UserError(
                f"variant {self.variant.name}: there is no {missing[0].name} for memcached"
                f" {self.version.name}; write {missing[0]}, or use variant none, check, gcc or"
                " clang-lto"
            )

    def _join_conversions(self) -> None:
        """Several conversion files as one: what each has behind its head."""
        files = self.conversion_files()
        if len(files) < 2:
            return
        texts = [x.read_text(encoding="utf-8") for x in files]
        parts = [
            f"# {x.name}\n{text[text.index('[[') :]}" for x, text in zip(files, texts, strict=True)
        ]
        head = texts[0][: texts[0].index("[[")]
        (self.own / "convert.toml").write_text(head + "\n".join(parts), encoding="utf-8")

    def _define(self) -> None:
        """In config.h: what since stage max is not there."""
        name = self.version.counts
        if not self.variant.plain_counts or not name:
            return
        path = self.tree / "config.h"
        text = path.read_text(encoding="utf-8")
        path.write_text(
            re.sub(rf"^#define {name}\b.*$", f"/* #undef {name} */", text, flags=re.M),
            encoding="utf-8",
        )

    def _make(self, programs: Sequence[str], environment: Mapping[str, str]) -> None:
        targets = [*programs]
        if self.version.flags:
            own = [x for x in self.variant.configure if x.startswith("CFLAGS=")]
            flags = self._fill(own[0].removeprefix("CFLAGS=")) if own else ""
            targets.append(f"CFLAGS={self.version.flags} {flags}".rstrip())
        planned = subprocess.run(
            ["make", "--dry-run", *targets],
            cwd=self.tree,
            env=dict(environment),
            capture_output=True,
            text=True,
            check=False,
        )
        objects = len(re.findall(r" -c -o ", planned.stdout))
        meter = Meter(f"memcached ({self.variant.name}): building {objects} objects", objects)
        must_run(
            ["make", f"-j{self.jobs}", *targets],
            folder=self.tree,
            environment=environment,
            log=self.own / "make.log",
            line=lambda text: meter.advance() if " -c -o " in text else None,
        )
        for program in programs:
            if not (self.tree / program).exists():
                raise CommandError(f"{self.tree}/{program}: was not built; see {self.own}/make.log")
        say(f"memcached ({self.variant.name}): built in {meter.end():.0f} s")

    def analyse(self) -> Comparison:
        """Builds, prints the table of lock regions, and counts them independently."""
        if not self.variant.analysed:
            analysed = ", ".join(x.name for x in VARIANTS.values() if x.analysed)
            raise UserError(f"variant {self.variant.name} has no report; use {analysed}")
        self.build()
        analyze = [str(self.prefix / "bin" / "tandem"), "analyze", str(self.report)]
        sys.stdout.flush()
        if subprocess.run(analyze, check=False).returncode != 0:
            raise CommandError(f"{' '.join(analyze)} failed; see above")
        sources = sorted(
            path.name.removeprefix("memcached-").removesuffix(".o") + ".c"
            for path in self.tree.glob("memcached-*.o")
        )
        return compare(self._found(), count_calls(self.tree, "clang-19", sources))

    def classes(self) -> dict[str, float]:
        """Builds; of its sections how many there are by class, colours before and after classes
        are known, shared locations, and what the analysis took. Of a variant that is converted.
        """
        self.build()
        try:
            document = json.loads(self.report.read_text(encoding="utf-8"))
            sections = [x for x in document["sections"] if x["kind"] != "lock-region"]
            of = Counter(x["class"] for x in sections)
            left = None  # of transactions alone there is one colour for all
            if self.variant.environment["TANDEM_ENFORCE"] == "hybrid":
                left = len({c["colour"] for x in sections for c in x["locks"]})
            return {
                "sections": len(sections),
                "non_revocable": of["non-revocable"],
                "hybrid": of["hybrid"],
                "pure": of["pure"],
                "lockpick_colours": len({c for x in sections for c in x["colours"]}),
                **({"lockstm_colours": left} if left is not None else {}),
                "shared_locations": len(document["shared"]),
                "analysis_s": document["analysis"]["seconds"],
                "peak_mib": document["analysis"]["peak_mib"],
            }
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise FormatError(f"{self.report}: is not a report: {error}; build again") from error

    def kinds(self) -> dict[str, int]:
        """Of a build's sections, as TRANSACT 2013 counts them in source: those that call nothing
        that cannot be undone (`atomic`), and the others (`relaxed`); of these, those that access a
        volatile variable (`volatile`) or run an atomic operation (`atomics`), where that cannot be
        undone.
        """
        try:
            document = json.loads(self.report.read_text(encoding="utf-8"))
            sections = [x for x in document["sections"] if x["kind"] != "lock-region"]
            unsafe = [{y["callee"] for y in x["irrevocable"]} for x in sections]
            relaxed = sum(bool(x) for x in unsafe)
            return {
                "atomic": len(sections) - relaxed,
                "relaxed": relaxed,
                "volatile": sum("(volatile access)" in x for x in unsafe),
                "atomics": sum("(atomic operation)" in x for x in unsafe),
            }
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise FormatError(f"{self.report}: is not a report: {error}; build again") from error

    def _found(self) -> Counter[Site]:
        try:
            document = json.loads(self.report.read_text(encoding="utf-8"))
            return Counter(
                Site(x["file"].removeprefix("./"), x["line"], x["lock"]["kind"])
                for x in document["sections"]
                if x["kind"] == "lock-region"
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise FormatError(f"{self.report}: is not a report: {error}; build again") from error

    def suite(self, jobs: int, only: Sequence[str] = ()) -> SuiteResult:
        """Builds, and runs memcached's own tests, or some files of them."""
        if not self.variant.has_suite:
            able = ", ".join(x.name for x in VARIANTS.values() if x.has_suite)
            raise UserError(f"variant {self.variant.name} is memcached alone; suite runs {able}")
        self.build(PROGRAMS)
        return run_suite(
            self.tree,
            self.own,
            jobs,
            checked=self.variant.checked,
            only=only,
        )

    def _fill(self, text: str) -> str:
        for name, path in (
            ("{bin}", self.prefix / "bin"),
            ("{reports}", self.own / "reports"),
            ("{catalogues}", CONVERSIONS),
            ("{stock_libitm}", self.folder / "stock_libitm"),
            ("{late_asan}", self.folder / "asan" / PLUGIN),
        ):
            text = text.replace(name, str(path))
        return text

    def _environment(self) -> dict[str, str]:
        # Not what would change the compilers, or make, behind the key's back.
        changing = ("TANDEM_", "MAKE", "MFLAGS")
        flags = ("CC", "CPP", "CFLAGS", "CPPFLAGS", "LDFLAGS", "LIBS", "AR", "RANLIB", "NM")
        own = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(changing) and name not in flags
        }
        told = {name: self._fill(x) for name, x in self.variant.environment.items()}
        files = self.conversion_files()
        if files:
            told["TANDEM_CONVERT"] = str(self.own / "convert.toml" if len(files) > 1 else files[0])
        return own | told

    def _key(self, package: str) -> str:
        """What the build is made of: package, options, compiler, and Tandem's own parts."""
        compiler = self._fill(self.variant.compiler)
        try:
            told = subprocess.run([compiler, "--version"], capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise UserError(f"{compiler}: cannot be run; build or install it first") from error
        parts = [package, *map(self._fill, self.variant.configure), told.stdout.decode()]
        parts += [f"version {self.version}"]
        parts += [f"{k}={self._fill(v)}" for k, v in sorted(self.variant.environment.items())]
        if self.variant.analysed:
            tools = [self.prefix / "bin" / "tandem-cc", *(self.prefix / "lib" / "tandem").glob("*")]
            if self.variant.on_libitm:
                tools += [self.folder / "stock_libitm" / "libitm.so.1"]
            if self.variant.checked:
                tools.append(self.prefix / "lib" / "libtandem_observe.so")
            tools += self.conversion_files()
            if catalogue := self.variant.environment.get("TANDEM_CATALOGUE"):
                tools.append(Path(self._fill(catalogue)))
            parts += [_digest(path) for path in sorted(tools) if path.is_file()]
        return "\n".join(parts) + "\n"


def _digest(path: Path) -> str:
    return f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}"


def refusal(log: str) -> str:
    """Why the compiler refused to convert a lock, from all that a make printed; empty where it said
    nothing of the kind, or also something else that ends a build.
    """
    said = re.findall(r"^tandem-cc: (?!warning: |note: )(.+)$", log, re.MULTILINE)
    errors = re.findall(r"^(?!clang: error: linker command failed).*\berror: ", log, re.MULTILINE)
    return said[-1] if said and not errors and all(map(_REFUSES.search, said)) else ""


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""

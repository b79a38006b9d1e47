# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""memcached from Debian's source package, with nothing changed: fetched, built, analysed, tested.

FOLDER/source/           the package as dpkg-source unpacks it; never built in
FOLDER/VARIANT/tree/     a copy of it, built by ./configure && make
FOLDER/VARIANT/reports/  one report for each linked program
FOLDER/VARIANT/*.log     what configure, make and the test suite printed
FOLDER/VARIANT/built     what the build was made of; written last
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
from dataclasses import dataclass, replace
from pathlib import Path

from tandem.errors import CommandError, FormatError, UserError
from tandem.paths import ROOT
from tandem.workload.asan import PLUGIN, build_late_asan
from tandem.workload.sites import Comparison, Site, compare, count_calls
from tandem.workload.steps import Meter, must_run, say
from tandem.workload.stock_libitm import build_stock_libitm
from tandem.workload.suite import SuiteResult, run_suite

__all__ = ["CONVERSIONS", "SANITIZED", "VARIANTS", "Memcached", "Variant", "sanitized"]

PACKAGE = "memcached"
CONVERSIONS = ROOT / "workloads" / "memcached"
TANDEM_CC = (
    "CC={bin}/tandem-cc",
    "AR={bin}/tandem-ar",
    "RANLIB={bin}/tandem-ranlib",
    "NM={bin}/tandem-nm",
)
SANITIZED = "-asan"  # behind a variant's name
# What the test suite runs besides memcached itself; all of them are parts of `make all`.
PROGRAMS = ("memcached", "memcached-debug", "sizes", "testapp", "timedrun")


@dataclass(frozen=True)
class Variant:
    """How memcached is built. `{bin}` stands for the folder of Tandem's compilers, `{reports}` for
    that of reports, `{conversions}` for that of conversion files, `{stock_libitm}` for gcc's
    library, `{late_asan}` for the plugin of asan.py.
    """

    name: str
    summary: str
    configure: tuple[str, ...]
    environment: Mapping[str, str]
    compiler: str  # asked for its version, as part of the build's key
    programs: tuple[str, ...] = PROGRAMS  # what is built; less than these runs no test suite

    @property
    def analysed(self) -> bool:
        return "TANDEM_REPORT" in self.environment

    @property
    def converted(self) -> bool:
        """Whether its locks are atomic sections."""
        return "TANDEM_CONVERT" in self.environment

    @property
    def late_asan(self) -> bool:
        """Whether AddressSanitizer comes at the end of its link."""
        return any("{late_asan}" in x for x in self.configure)

    @property
    def on_libitm(self) -> bool:
        """Whether it runs on gcc's libitm."""
        return any("{stock_libitm}" in x for x in self.configure)

    @property
    def transactional(self) -> bool:
        """Whether its sections may be transactions of Tandem's runtime, which it can profile."""
        enforced = self.environment.get("TANDEM_ENFORCE")
        return enforced in ("stm", "htm", "hybrid") and not self.on_libitm

    @property
    def checked(self) -> bool:
        """Whether its programs check the analysis while they run."""
        return "TANDEM_CHECK_EFFECTS" in self.environment


def sanitized(variant: Variant) -> Variant:
    """The same, checked by AddressSanitizer: where clang links it, at the end of the link
    (asan.py). The stack is not watched there: a transaction that begins again leaves frames
    without a return. gcc's library is linked statically, as clang's is: a shared one would have to
    be the first that is loaded, where the clients are preloaded.
    """
    watch = "-fsanitize=address"
    if variant.compiler == "gcc":
        configure = (
            *variant.configure,
            f"CFLAGS=-g -O2 {watch}",
            f"LDFLAGS={watch} -static-libasan",
        )
    else:
        own = next((x for x in variant.configure if x.startswith("LDFLAGS=")), "LDFLAGS=")
        others = tuple(x for x in variant.configure if x != own)
        late = "-Wl,--load-pass-plugin={late_asan} -Wl,-mllvm,-asan-stack=0"
        configure = (*others, f"{own} {watch} {late}".replace("= ", "="))
    return replace(
        variant,
        name=f"{variant.name}{SANITIZED}",
        summary=f"{variant.summary}; with AddressSanitizer",
        configure=configure,
    )


def _converted(name: str, summary: str, enforce: str, conversion: str = "convert.toml") -> Variant:
    """Locks become atomic sections, as one of the conversion files says. Where all of these are
    transactions, real locks are taken in transactions too.
    """
    catalogue = (
        "catalogue-transactions.toml" if enforce in ("stm", "htm", "hybrid") else "catalogue.toml"
    )
    environment = {
        "TANDEM_CATALOGUE": "{conversions}/" + catalogue,
        "TANDEM_ENFORCE": enforce,
        "TANDEM_CONVERT": "{conversions}/" + conversion,
        "TANDEM_REPORT": "{reports}/%o.json",
    }
    return Variant(name, summary, TANDEM_CC, environment, "{bin}/tandem-cc")


def _on_libitm(variant: Variant) -> Variant:
    """The same conversion by plain calls of the ABI, and at run time on gcc's library."""
    return replace(
        variant,
        configure=(*variant.configure, "LDFLAGS=-Wl,-rpath,{stock_libitm}"),
        environment={
            **variant.environment,
            "TANDEM_INLINE_BARRIERS": "0",
            "TANDEM_SHORT_SECTIONS": "0",
        },
    )


def _stage(branch: str, conversion: str, stage: str, summary: str) -> Variant:
    """One stage of the papers: which calls are unsafe is in a catalogue; each access is a call of
    the runtime, as with gcc; memcached alone is built.
    """
    variant = _converted(f"{branch}-{stage}", summary, "stm", conversion)
    return replace(
        variant,
        environment={
            **variant.environment,
            "TANDEM_CATALOGUE": f"{{conversions}}/stage-{stage}.toml",
            "TANDEM_INLINE_BARRIERS": "0",
            "TANDEM_SHORT_SECTIONS": "0",
        },
        programs=("memcached",),
    )


def _lockstm() -> Variant:
    """What LockSTM has: no lock guards its data, and real ones are not taken in transactions."""
    variant = _converted("lockstm", "hybrid, no lock guards its data", "hybrid", "convert-it.toml")
    environment = {**variant.environment, "TANDEM_CATALOGUE": "{conversions}/catalogue.toml"}
    return replace(variant, environment=environment, programs=("memcached",))


_BRANCHES = {"it": ("convert-it.toml", "items as"), "ip": ("convert-3-lru.toml", "item locks in")}
_STAGES = {
    "callable": "library functions unsafe",
    "lib": "output and wake-ups unsafe",
    "oncommit": "nothing unsafe",
}

VARIANTS = {
    variant.name: variant
    for variant in (
        Variant(
            "none",
            "tandem-cc, nothing enforced, with a report",
            TANDEM_CC,
            {"TANDEM_ENFORCE": "none", "TANDEM_REPORT": "{reports}/%o.json"},
            "{bin}/tandem-cc",
        ),
        Variant(
            "check",
            "tandem-cc; what its sections touch is checked against the analysis while it runs",
            TANDEM_CC,
            {"TANDEM_CHECK_EFFECTS": "1", "TANDEM_REPORT": "{reports}/%o.json"},
            "{bin}/tandem-cc",
        ),
        Variant("gcc", "stock gcc", ("CC=gcc",), {}, "gcc"),
        Variant(
            "clang-lto",
            "stock clang 19, full LTO by lld",
            (
                "CC=clang-19",
                "AR=llvm-ar-19",
                "RANLIB=llvm-ranlib-19",
                "NM=llvm-nm-19",
                "CFLAGS=-g -O2 -flto",
                "LDFLAGS=-flto -fuse-ld=lld",
            ),
            {},
            "clang-19",
        ),
        _converted("global-lock", "locks converted; one lock for all sections", "global-lock"),
        _converted("locks", "locks converted; inferred locks", "locks"),
        _converted("stm", "locks converted; transactions in software", "stm"),
        _converted("hybrid", "locks converted; transactions, and inferred locks", "hybrid"),
        _converted("htm", "locks converted; transactions in hardware where it has them", "htm"),
        _on_libitm(_converted("stm-libitm", "stm on gcc's libitm, every access a call", "stm")),
        _converted("stm-1", "stm, only statistics converted", "stm", "convert-1-stats.toml"),
        _converted("stm-2", "stm, also the slab allocator", "stm", "convert-2-slabs.toml"),
        _converted("stm-3", "stm, also the lists of recent use", "stm", "convert-3-lru.toml"),
        *(
            _stage(branch, conversion, stage, f"ASPLOS 2014: {items} transactions, {unsafe}")
            for branch, (conversion, items) in _BRANCHES.items()
            for stage, unsafe in _STAGES.items()
        ),
        _lockstm(),
    )
}


@dataclass(frozen=True)
class Memcached:
    """One variant below `folder`; `prefix` is Tandem's installation or build tree."""

    folder: Path
    prefix: Path
    variant: Variant
    jobs: int  # of make

    @property
    def source(self) -> Path:
        return self.folder / "source"

    @property
    def own(self) -> Path:
        return self.folder / self.variant.name

    @property
    def tree(self) -> Path:
        return self.own / "tree"

    @property
    def report(self) -> Path:
        return self.own / "reports" / "memcached.json"

    def fetch(self) -> str:
        """Fetches and unpacks the source package; prints its version and checksums.
        Result: `memcached VERSION`. CommandError where it cannot be fetched.
        """
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

    def build(self) -> None:
        """Fetches and builds, where something has changed. CommandError where it fails."""
        if self.variant.on_libitm:
            build_stock_libitm(self.folder / "stock_libitm")
        if self.variant.late_asan:
            build_late_asan(self.folder / "asan")
        key = self._key(self.fetch())
        stamp = self.own / "built"
        if _read(stamp) == key and all((self.tree / x).exists() for x in self.variant.programs):
            say(f"memcached ({self.variant.name}) is built: {self.tree}")
            return
        if self.own.exists():
            shutil.rmtree(self.own)
        (self.own / "reports").mkdir(parents=True)
        shutil.copytree(self.source, self.tree, symlinks=True)
        environment = self._environment()
        say(f"memcached ({self.variant.name}): configuring {self.tree}")
        must_run(
            ["./configure", *map(self._fill, self.variant.configure)],
            folder=self.tree,
            environment=environment,
            log=self.own / "configure.log",
        )
        self._make(environment)
        for program in self.variant.programs:
            if not (self.tree / program).exists():
                raise CommandError(f"{self.tree}/{program}: was not built; see {self.own}/make.log")
        stamp.write_text(key, encoding="utf-8")

    def _make(self, environment: Mapping[str, str]) -> None:
        targets = ("all",) if self.variant.programs == PROGRAMS else self.variant.programs
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
        are known, shared locations, and what the analysis took. UserError where its locks are not
        sections.
        """
        if not self.variant.converted:
            able = ", ".join(x.name for x in VARIANTS.values() if x.converted)
            raise UserError(f"variant {self.variant.name} has no sections; use one of {able}")
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
        if self.variant.programs != PROGRAMS:
            able = ", ".join(x.name for x in VARIANTS.values() if x.programs == PROGRAMS)
            raise UserError(f"variant {self.variant.name} is memcached alone; suite runs {able}")
        self.build()
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
            ("{conversions}", CONVERSIONS),
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
        return own | {name: self._fill(x) for name, x in self.variant.environment.items()}

    def _key(self, package: str) -> str:
        """What the build is made of: package, options, compiler, and Tandem's own parts."""
        compiler = self._fill(self.variant.compiler)
        try:
            told = subprocess.run([compiler, "--version"], capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise UserError(f"{compiler}: cannot be run; build or install it first") from error
        parts = [package, *map(self._fill, self.variant.configure), told.stdout.decode()]
        parts += [f"{k}={self._fill(v)}" for k, v in sorted(self.variant.environment.items())]
        if self.variant.analysed:
            tools = [self.prefix / "bin" / "tandem-cc", *(self.prefix / "lib" / "tandem").glob("*")]
            if self.variant.on_libitm:
                tools += [self.folder / "stock_libitm" / "libitm.so.1"]
            if self.variant.checked:
                tools.append(self.prefix / "lib" / "libtandem_observe.so")
            if self.variant.converted:
                files = ("TANDEM_CONVERT", "TANDEM_CATALOGUE")
                paths = (self.variant.environment.get(name) for name in files)
                tools += [Path(self._fill(path)) for path in paths if path]
            parts += [_digest(path) for path in sorted(tools) if path.is_file()]
        return "\n".join(parts) + "\n"


def _digest(path: Path) -> str:
    return f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""

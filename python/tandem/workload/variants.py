# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How memcached can be built: compilers, conversions of its locks, stages of the papers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

__all__ = ["PROGRAMS", "SANITIZED", "VARIANTS", "Variant", "sanitized"]

TANDEM_CC = (
    "CC={bin}/tandem-cc",
    "AR={bin}/tandem-ar",
    "RANLIB={bin}/tandem-ranlib",
    "NM={bin}/tandem-nm",
)
SANITIZED = "-asan"  # behind a variant's name
# What the test suite runs: memcached, and parts of it. Of memcached's `make all`.
PROGRAMS = ("memcached", "memcached-debug", "sizes", "testapp", "timedrun")


@dataclass(frozen=True)
class Variant:
    """How memcached is built. `{bin}` stands for the folder of Tandem's compilers, `{reports}` for
    that of reports, `{conversions}` for that of the version's conversion files, `{catalogues}` for
    that of catalogues, `{stock_libitm}` for gcc's library, `{late_asan}` for the plugin of asan.py.
    TANDEM_CONVERT may be several files, joined by "+".
    """

    name: str
    summary: str
    configure: tuple[str, ...]
    environment: Mapping[str, str]
    compiler: str  # asked for its version, as part of the build's key
    has_suite: bool = True  # whether PROGRAMS can be built, and the test suite run
    plain_counts: bool = False  # counts of references are no atomic operations (versions.py)

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
        "TANDEM_CATALOGUE": "{catalogues}/" + catalogue,
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


def _stage(name: str, conversion: str, stage: str, summary: str) -> Variant:
    """One stage of the papers: which calls are unsafe is in a catalogue; each access is a call of
    the runtime, as with gcc; memcached alone is built.
    """
    variant = _converted(name, summary, "stm", conversion)
    return replace(
        variant,
        environment={
            **variant.environment,
            "TANDEM_CATALOGUE": f"{{catalogues}}/stage-{stage}.toml",
            "TANDEM_INLINE_BARRIERS": "0",
            "TANDEM_SHORT_SECTIONS": "0",
        },
        has_suite=False,
        plain_counts=stage not in ("plain", "callable"),
    )


def _lockstm() -> Variant:
    """What LockSTM has: no lock guards its data, and real ones are not taken in transactions."""
    variant = _converted("lockstm", "hybrid, no lock guards its data", "hybrid", "convert-it.toml")
    environment = {**variant.environment, "TANDEM_CATALOGUE": "{catalogues}/catalogue.toml"}
    return replace(variant, environment=environment, has_suite=False)


_BRANCHES = {"it": ("convert-it.toml", "items as"), "ip": ("convert-ip.toml", "item locks in")}
_STAGES = {
    "plain": "functions of other files and library functions unsafe",
    "callable": "library functions and volatile accesses unsafe",
    "max": "library functions unsafe",
    "lib": "output and wake-ups unsafe",
    "oncommit": "nothing unsafe",
}
# "Transactionalization of Legacy Code" (TRANSACT 2013): which locks become transactions, and the
# stage of what they call.
_SINGLE = {
    "cachelock-naive": (("cache",), "plain"),
    "cachelock": (("cache",), "max"),
    "slabslock": (("slabs",), "lib"),
    "statslock": (("stats",), "lib"),
    "cachelock-statslock": (("cache", "stats"), "lib"),
    "cachelock-statslock-slabslock": (("cache", "stats", "slabs"), "lib"),
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
            _stage(
                f"{branch}-{stage}",
                conversion,
                stage,
                f"ASPLOS 2014: {items} transactions, {unsafe}",
            )
            for branch, (conversion, items) in _BRANCHES.items()
            for stage, unsafe in _STAGES.items()
        ),
        *(
            _stage(
                name,
                "+".join(f"single-{x}.toml" for x in locks),
                stage,
                f"TRANSACT 2013: only {' and '.join(locks)} as transactions, {_STAGES[stage]}",
            )
            for name, (locks, stage) in _SINGLE.items()
        ),
        _lockstm(),
    )
}

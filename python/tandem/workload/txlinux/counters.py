# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the machine has counted of a run's sections, by subsystem.

A place is a function of the kernel: the one that called an entry of <linux/txlock.h>. Its subsystem
is read from its name; the first pattern that fits decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from tandem.workload.txlinux.guest import Run

__all__ = [
    "CAUSES",
    "Sections",
    "by_subsystem",
    "group_profile",
    "print_run",
    "subsystem_of",
]

PAIRS = 6  # that a run shows; --json has all
CAUSES = ("conflict", "software", "io", "call", "csr", "limit")
_PATTERNS: tuple[tuple[str, str], ...] = (
    ("counter", r"^worker$"),
    ("rcu", r"rcu|^force_qs|^note_gp|^dyntick"),
    (
        "slab",
        r"slab|kmem|kmalloc|kfree|^deactivate|^get_partial|unfreeze|^new_slab|cmpxchg_double",
    ),
    (
        "dcache",
        r"dentr|^d_|^__d_|dput|dget|lockref|dcache|lru_list|^simple_|positive|path|lookup|mnt",
    ),
    ("inode", r"inode|iput|iget|igrab|^i_|evict"),
    ("zone", r"rmqueue|freelist|free_pcp|free_unref|zone|^__free_|^free_one|buddy"),
    (
        "address space",
        r"^xa|xas|folio|page_cache|filemap_(add|rem)|shmem_(add|undo)|pagevec|ida_|idr_",
    ),
    ("sockets", r"sock|tcp|udp|inet|unix|skb|^sk_|^__sk_|neigh|listening|^fib|^rt_|^ip_"),
    (
        "memory",
        r"pte|pmd|fault|vm_area|vma|mmap|mremap|zap|unmap|page_range|vmap|wp_page|anon|map_pages"
        r"|follow_page|^expand_|protection|page_table",
    ),
)


@dataclass
class Sections:
    """Of one subsystem. `elided` are transactions that committed; the others took their lock."""

    transactions: int = 0
    elided: int = 0
    fallbacks: int = 0
    restarts: int = 0
    conflict: int = 0
    software: int = 0
    io: int = 0
    call: int = 0
    csr: int = 0
    limit: int = 0

    def add(self, site: Mapping[str, Any]) -> None:
        self.transactions += site["transactions"]
        self.elided += site["commits"]
        self.fallbacks += site["fallbacks"]
        self.restarts += site["restarts"]
        for cause in CAUSES:
            setattr(self, cause, getattr(self, cause) + site["causes"][cause])

    def cells(self) -> Iterator[int]:
        return (getattr(self, x.name) for x in fields(self))


def subsystem_of(function: str) -> str:
    for name, pattern in _PATTERNS:
        if re.search(pattern, function):
            return name
    return "other"


def _subsystem_of_place(place: str) -> str:
    return subsystem_of(re.split(r"[+ .]", place)[0])


def group_profile(profile: dict[str, Any]) -> None:
    """Gives every place of a profile its subsystem, also in its name: slab/deactivate_slab+0x10."""
    for section in profile["sections"]:
        section["group"] = _subsystem_of_place(section["name"])
        section["name"] = f"{section['group']}/{section['name']}"
        for abort in section["aborts"]:
            if abort.get("other"):
                abort["other"] = f"{_subsystem_of_place(abort['other'])}/{abort['other']}"


def by_subsystem(transactions: Mapping[str, Any]) -> dict[str, Sections]:
    """Most sections first."""
    found: dict[str, Sections] = {}
    for site in transactions.get("sites", ()):
        found.setdefault(_subsystem_of_place(site["site"]), Sections()).add(site)
    return dict(sorted(found.items(), key=lambda x: -x[1].transactions))


def print_run(run: Run) -> None:
    """The run, and its sections by subsystem."""
    print(f"{run.variant}: {run.workload}, {run.harts} harts, seed {run.seed}: {run.said}")
    if run.system_cycles:
        print(f"  elapsed cycles     {run.elapsed_cycles:>14,}")
        print(f"  cycles outside U   {run.system_cycles:>14,}   of all harts")
    counted = run.transactions
    if not counted:
        print("  no section ran as a transaction")
        return
    sections = max(counted["transactions"], 1)
    print(f"  sections           {counted['transactions']:>14,}")
    print(f"  took their lock    {counted['fallbacks']:>14,}")
    print(f"  restarts           {counted['restarts']:>14,}   {counted['restart_percent']:.2f} %")
    print(f"  restarted sections {counted['unique_restarts']:>14,}")
    print(f"  in system calls    {100 * counted['begun_in_system_calls'] / sections:>14.1f} %")
    print(f"  in interrupts      {100 * counted['begun_in_interrupts'] / sections:>14.1f} %")
    print(f"  interrupted        {counted['interrupted']:>14,}")
    print(f"  live stack guarded {counted['live_stack_overwrites']:>14,}")
    names = ("sections", "elided", "took lock", "restarts", *CAUSES)
    print("  " + f"{'subsystem':<14}" + "".join(f"{x:>11}" for x in names))
    for name, row in by_subsystem(counted).items():
        print("  " + f"{name:<14}" + "".join(f"{x:>11,}" for x in row.cells()))
    pairs = sorted(counted.get("pairs", ()), key=lambda x: -x["count"])[:PAIRS]
    if pairs:
        print("  most restarts: who restarted, for whom")
    for pair in pairs:
        winner = pair["winner"] or "an access outside of sections"
        print(f"  {pair['count']:>11,}  {pair['loser']} for {winner}")

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every name in the built-in catalogue exists in a library of this machine."""

from __future__ import annotations

import ctypes
import os
import subprocess
import tomllib
from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "data"
BUILD = Path(os.environ["TANDEM_BUILD"])
CATALOGUE = tomllib.loads((DATA / "catalogue.toml").read_text(encoding="utf-8"))

# Beginnings of names, separated by blanks, and the libraries that have them. The first that fits
# counts; the last, empty one is the rest: glibc and the runtimes of gcc, which every machine has.
LIBRARIES: dict[str, tuple[str, ...]] = {
    "event evbuffer evutil evthread libevent": (
        "libevent-2.1.so.7",
        "libevent_pthreads-2.1.so.7",
    ),
    "sasl_": ("libsasl2.so.2",),
    "SSL_ TLS_ OPENSSL_ OpenSSL_ ERR_ RAND_ EVP_ BIO_ X509_ HMAC_ BN_ DH_ RSA_ EC_ MD5 SHA": (
        "libssl.so.3",
        "libcrypto.so.3",
    ),
    "deflate inflate compress uncompress crc32 adler32 gz zlibVersion zError": ("libz.so.1",),
    "__kmpc_": ("libomp.so.5", "libomp.so"),
    "omp_ GOMP_": ("libgomp.so.1",),
    "tandem_": (str(BUILD / "lib/libitm.so.1"),),
    "": ("libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1"),
}
# In glibc 2.38 and later, or (pthread_atfork and its like) only in the part of libc that is linked
# into every program.
NEWER = ("__isoc23_", "strlcpy", "strlcat", "__strlcpy_chk", "__strlcat_chk")
# What the pass links into programs as bitcode.
BITCODE = "_TANDEM_held_"
# Within the pass: operations of these kinds on locks that a converted program keeps, and marks of
# those that stay apart.
OWN_LOCKS = ("_TANDEM_own_plain_", "_TANDEM_own_held_", "_TANDEM_guarded_by_")
# In the archive that clang links into programs with counters of coverage.
COVERAGE = ("llvm_gcov_", "llvm_gcda_", "__gcov_fork")
STATIC = ("atexit", "at_quick_exit", "pthread_atfork")


def names() -> list[str]:
    listed: list[str] = [name for group in CATALOGUE["functions"].values() for name in group]
    listed += CATALOGUE["function"]
    listed += [name for group in CATALOGUE["group"] for name in group["names"]]
    listed += CATALOGUE["variables"]["own"]
    return listed


def beginnings_of(name: str) -> str:
    return next(key for key in LIBRARIES if not key or name.startswith(tuple(key.split())))


def loaded(names: tuple[str, ...]) -> list[ctypes.CDLL]:
    found = []
    for name in names:
        try:
            found.append(ctypes.CDLL(name))
        except OSError:
            continue
    return found


@pytest.mark.parametrize("beginnings", LIBRARIES, ids=lambda key: LIBRARIES[key][0])
def test_every_name_exists(beginnings: str) -> None:
    libraries = loaded(LIBRARIES[beginnings])
    if not libraries:
        pytest.skip(f"{LIBRARIES[beginnings][0]} is not installed here")
    wanted = [
        name
        for name in names()
        if beginnings_of(name) == beginnings
        and not name.startswith((BITCODE, *OWN_LOCKS, *COVERAGE))
    ]
    assert wanted
    missing = [
        name
        for name in wanted
        if not name.startswith(NEWER)
        and name not in STATIC
        and not any(hasattr(library, name) for library in libraries)
    ]
    assert missing == []


def test_every_name_of_the_coverage_runtime_exists() -> None:
    query = ["clang-19", "--print-file-name=libclang_rt.profile-x86_64.a"]
    archive = subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip()
    listing = subprocess.run(
        ["llvm-nm-19", "--defined-only", archive],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    defined = {line.split()[-1] for line in listing.splitlines() if " T " in line}
    wanted = {name for name in names() if name.startswith(COVERAGE)}
    assert wanted
    assert wanted <= defined


def test_operations_on_kept_locks_are_those_of_the_library() -> None:
    library = ctypes.CDLL("libc.so.6")
    of_kind = [
        {name.removeprefix(kind) for name in names() if name.startswith(kind)} for kind in OWN_LOCKS
    ]
    assert of_kind[0] == of_kind[1]
    assert of_kind[0]
    assert all(hasattr(library, name) for name in of_kind[0])


def test_no_name_is_listed_twice() -> None:
    listed = names()
    assert sorted(listed) == sorted(set(listed))


def test_output_that_may_be_deferred_is_in_the_builtin_catalogue() -> None:
    deferred = tomllib.loads((DATA / "catalogue-deferred-output.toml").read_text(encoding="utf-8"))
    listed = [name for group in deferred["group"] for name in group["names"]]
    assert set(listed) <= set(names())
    assert len(listed) == len(set(listed))
    assert {group["effect"] for group in deferred["group"]} == {"deferrable"}


def test_names_of_the_bitcode_exist() -> None:
    bitcode = (BUILD / "lib/tandem/held.bc").read_bytes()
    wanted = [name for name in names() if name.startswith(BITCODE)]
    assert wanted
    assert [name for name in wanted if name.encode() not in bitcode] == []

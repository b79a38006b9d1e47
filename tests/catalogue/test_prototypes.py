# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the built-in catalogue says of a function fits the prototype in this machine's headers."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[2] / "data"
CLANG = Path(os.environ.get("TANDEM_LLVM_BIN", "/usr/lib/llvm-19/bin")) / "clang"
LAST = 63

# Headers that exist here; the rest of the catalogue (fortified names, C++) has no prototype in C.
HEADERS = """
arpa/inet.h dirent.h dlfcn.h err.h error.h execinfo.h fcntl.h fenv.h fnmatch.h ftw.h getopt.h glob.h
grp.h iconv.h ifaddrs.h inttypes.h langinfo.h libgen.h libintl.h link.h locale.h malloc.h math.h
mntent.h mqueue.h net/if.h netdb.h poll.h pthread.h pty.h pwd.h regex.h sched.h search.h semaphore.h
setjmp.h shadow.h signal.h spawn.h stdio.h stdio_ext.h stdlib.h string.h strings.h sys/epoll.h
sys/eventfd.h sys/file.h sys/inotify.h sys/ioctl.h sys/mman.h sys/mount.h sys/random.h
sys/resource.h sys/select.h sys/sem.h sys/sendfile.h sys/shm.h sys/signalfd.h sys/socket.h
sys/stat.h sys/statfs.h sys/statvfs.h sys/sysinfo.h sys/time.h sys/timerfd.h sys/times.h sys/uio.h
sys/utsname.h sys/wait.h sys/xattr.h syslog.h termios.h threads.h time.h unistd.h utime.h wchar.h
wctype.h
event.h event2/buffer.h event2/event.h event2/event_compat.h event2/thread.h event2/util.h
sasl/sasl.h
openssl/bio.h openssl/err.h openssl/evp.h openssl/md5.h openssl/rand.h openssl/sha.h openssl/ssl.h
openssl/x509.h zlib.h
"""

# Entries that say something of argument 0, which the structure that they return is.
RETURN_IN_MEMORY = {"mallinfo", "mallinfo2"}


@dataclass(frozen=True)
class Prototype:
    result: str
    parameters: tuple[str, ...]
    variadic: bool


def split_parameters(text: str) -> list[str]:
    """The parameters in "int, void (*)(int, int)": commas inside parentheses separate nothing."""
    parts, depth = [""], 0
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip() not in ("", "void")]


def parse(text: str) -> Prototype:
    """A function type as clang prints it: "void *(void *, size_t)"."""
    text = re.sub(r" __attribute__\(\(.*$", "", text)
    begin, depth = len(text) - 1, 0
    for begin in range(len(text) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(text[begin], 0)
        if depth == 0:
            break
    parameters = split_parameters(text[begin + 1 : text.rindex(")")])
    variadic = bool(parameters) and parameters[-1] == "..."
    return Prototype(
        text[:begin].strip(),
        tuple(parameters[:-1] if variadic else parameters),
        variadic,
    )


@pytest.fixture(scope="module")
def prototypes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Prototype]:
    source = tmp_path_factory.mktemp("headers") / "all.c"
    includes = [
        f"#if __has_include(<{header}>)\n#include <{header}>\n#endif\n"
        for header in HEADERS.split()
    ]
    source.write_text("#define _GNU_SOURCE\n" + "".join(includes))
    words = [
        str(CLANG),
        "-w",
        "-fsyntax-only",
        "-fno-color-diagnostics",
        "-Xclang",
        "-ast-dump",
    ]
    tree = subprocess.run([*words, str(source)], capture_output=True, text=True, check=True).stdout
    found: dict[str, Prototype] = {}
    for line in tree.splitlines():
        declared = re.search(r"FunctionDecl 0x.* (\w+) '([^']*)'(?::'([^']*)')?", line)
        if declared and declared[1] not in found:
            found[declared[1]] = parse(declared[3] or declared[2])
    return found


def entries() -> dict[str, dict[str, Any]]:
    catalogue = tomllib.loads((DATA / "catalogue.toml").read_text(encoding="utf-8"))
    all_entries: dict[str, dict[str, Any]] = dict(catalogue["function"])
    for group in catalogue["group"]:
        all_entries.update(dict.fromkeys(group["names"], group))
    return all_entries


def numbers(entry: dict[str, Any], key: str) -> list[int]:
    """The arguments that an entry names by number, ranges apart."""
    value = entry.get(key)
    return [number for number in value if isinstance(number, int)] if type(value) is list else []


def tables(entry: dict[str, Any], key: str) -> list[dict[str, Any]]:
    value = entry.get(key, [])
    if isinstance(value, str):
        return []
    return value if isinstance(value, list) else [value]


def places(entry: dict[str, Any]) -> list[int]:
    """All arguments that an entry names in any key."""
    named = [n for key in ("reads", "writes", "captures", "follows") for n in numbers(entry, key)]
    named += [copied[end] for copied in tables(entry, "copies") for end in ("to", "from")]
    returned = entry.get("returns")
    sources = returned if isinstance(returned, list) else [returned]
    for stored in [*tables(entry, "stores"), *({"what": source} for source in sources)]:
        named.append(stored.get("to", "nothing"))
        if isinstance(stored["what"], dict):
            named += stored["what"].values()
    for callback in tables(entry, "callbacks"):
        # A variadic caller's list of arguments is longer than its prototype.
        named += [callback["function"], *callback.get("gets", [])]
    for text in [*tables(entry, "prints"), *tables(entry, "scans")]:
        named += [
            text["format"],
            text.get("to", "nothing"),
            text.get("from", "nothing"),
        ]
    named = [end["loaded"] if isinstance(end, dict) else end for end in named]
    return [place for place in named if isinstance(place, int)]


def mentions(entry: dict[str, Any], argument: int) -> bool:
    for key in ("reads", "writes", "captures", "follows"):
        value = entry.get(key)
        ranges = [text for text in value if isinstance(text, str)] if type(value) is list else []
        if value in ("all", True) or any(argument >= int(text[:-2]) for text in ranges):
            return True
    return argument in places(entry)


def is_constant(parameter: str) -> bool:
    return parameter.startswith("const ") and parameter.count("*") == 1


def described(
    prototypes: dict[str, Prototype],
) -> list[tuple[str, dict[str, Any], Prototype]]:
    found = [(n, e, prototypes[n]) for n, e in entries().items() if n in prototypes]
    assert len(found) > 800
    return found


def test_arguments_exist(prototypes: dict[str, Prototype]) -> None:
    wrong = [
        (name, max(places(entry)), len(prototype.parameters))
        for name, entry, prototype in described(prototypes)
        if places(entry) and not prototype.variadic and name not in RETURN_IN_MEMORY
        if max(places(entry)) >= len(prototype.parameters)
    ]
    assert wrong == []


def test_every_pointer_parameter_is_described(prototypes: dict[str, Prototype]) -> None:
    # Their contents do not matter: addresses of mappings, symbols, and what is ignored.
    allowed = {
        *(
            "mmap",
            "mmap64",
            "mremap",
            "mprotect",
            "mlock",
            "mlock2",
            "munlock",
            "msync",
        ),
        *("shmat", "shmdt", "brk", "mincore", "dlsym", "dlvsym", "gettimeofday"),
        # An engine, which OpenSSL 3 ignores; a time limit, which is not written back.
        *("EVP_Digest", "recvmmsg", "event_base_get_method"),
    }
    silent = [
        f"{name}: argument {number}, {parameter}"
        for name, entry, prototype in described(prototypes)
        if name not in allowed
        for number, parameter in enumerate(prototype.parameters)
        if "*" in parameter and not mentions(entry, number)
    ]
    assert silent == []


def test_no_constant_argument_is_written(prototypes: dict[str, Prototype]) -> None:
    # Opaque handles, whose contents a library changes behind "const"; vectors and tables of
    # options, of which `writes` means what they lead to.
    allowed = re.compile(r"^const (SSL|SSL_CTX|BIO|struct (evbuffer|iovec|option)|regex_t) \*")
    # The text is changed by the other function that has the same name.
    written = [
        f"{name}: argument {number}, {prototype.parameters[number]}"
        for name, entry, prototype in described(prototypes)
        for number in numbers(entry, "writes")
        if number < len(prototype.parameters) and name not in {"basename", "pselect"}
        if is_constant(prototype.parameters[number])
        and not allowed.match(prototype.parameters[number])
    ]
    assert written == []


def test_pointer_results_are_described(prototypes: dict[str, Prototype]) -> None:
    silent = [
        name
        for name, entry, prototype in described(prototypes)
        if "*" in prototype.result and "returns" not in entry
    ]
    assert silent == []

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass under AddressSanitizer, over every program that the tests have; make verify.

    sanitized.py BUILD [--only TEXT]

BUILD is a build of the preset asan-ubsan: its plugins are loaded into stock clang and opt, below
the sanitizer's runtime. First the pass's own tests (tests/compiler, by lit), then the programs of
the other suites and the corpus of C++, under every enforcement; opt verifies the module behind
each of our passes, and where there are transactions behind all passes of a link (behind each of
these would take twenty times as long). And the pass's tests once more with what users run, where
freed memory is overwritten (MALLOC_PERTURB_).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from corpus import CONTEXTS, MODES, program, read_cases
from tandem.experiment.progress import Progress

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
LLVM = Path(os.environ.get("TANDEM_LLVM_BIN", "/usr/lib/llvm-19/bin"))
# stderr of opt under these: only what our code does is of interest. LLVM's own containers and
# arenas are filled by code that is not instrumented.
ASAN = "detect_leaks=0:detect_container_overflow=0:allow_user_poisoning=0"
PERTURBED = "165"


@dataclass(frozen=True)
class Source:
    """A program, the flags that it needs, and the file that says which locks are converted."""

    path: Path
    flags: tuple[str, ...]
    conversion: Path | None = None


def sources(folder: Path) -> list[Source]:
    found = []
    for path in sorted((TESTS / "enforce/programs").glob("**/*.c*")):
        found.append(Source(path, ("-I", str(TESTS / "enforce/programs"))))
    for path in sorted((TESTS / "observe/programs").glob("*.c*")):
        found.append(Source(path, ()))
    for path in sorted((TESTS / "runtime/api").glob("*.c*")):
        found.append(Source(path, ()))
    for path in sorted((TESTS / "convert/programs").glob("*.c*")):
        own_file = path.with_suffix(".toml")
        found.append(Source(path, (), own_file if own_file.exists() else None))
    cases = read_cases()
    for context in CONTEXTS:
        own = [case for case in cases if case.fits(context)]
        for i in range(0, len(own), 12):
            path = folder / f"corpus{i}-{context}.cc"
            path.write_text(program(own[i : i + 12], context), encoding="utf-8")
            conversion = TESTS / "cpp/region.toml" if context == "region" else None
            found.append(Source(path, ("-I", str(TESTS / "cpp")), conversion))
    return found


def environment(**variables: str) -> dict[str, str]:
    mine = {k: v for k, v in os.environ.items() if not k.startswith("TANDEM_")}
    return {**mine, **variables}


def call(command: list[str], **variables: str) -> str:
    """What is wrong: nothing, or what the command printed. A user's mistake (2) is none."""
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        env=environment(**variables),
        check=False,
    )
    shown = " ".join([*(f"{k}={v}" for k, v in variables.items()), *command])
    return "" if done.returncode in (0, 2) else f"{shown}\nstatus {done.returncode}\n{done.stderr}"


def compile_source(source: Source, folder: Path, attributes: Path) -> Path | None:
    """Its IR as the link step sees it; nothing where it is no whole program of clang's."""
    cxx = source.path.suffix == ".cc"
    made = folder / f"{source.path.parent.name}-{source.path.name}.ll"
    command = [str(LLVM / ("clang++" if cxx else "clang")), "-std=c++20" if cxx else "-std=gnu17"]
    command += ["-g", "-O1", "-w", "-pthread", "-Xclang", "-disable-llvm-passes", "-D__TANDEM__=1"]
    command += [f"-fplugin={attributes}", "-I", str(ROOT / "include"), *source.flags]
    command += ["-DATOMIC=__attribute__((atomic))"] if "corpus" not in source.path.name else []
    wrong = call([*command, "-S", "-emit-llvm", str(source.path), "-o", str(made)])
    return made if not wrong and made.exists() else None


def check(build: Path, preload: str, source: Source, folder: Path, plain: Path) -> list[str]:
    made = compile_source(source, folder, plain / "TandemAttributes.so")
    if made is None:
        return [f"{source.path}: clang does not compile it"]
    troubles = []
    for mode in MODES:
        alone = ["-passes=internalize,tandem", "-verify-each"]
        whole = ["-passes=internalize,lto<O2>"]
        for passes in [alone, *([whole] if mode in ("stm", "hybrid") else [])]:
            command = [str(LLVM / "opt"), f"-load-pass-plugin={build}/lib/tandem/TandemPass.so"]
            command += [*passes, "-internalize-public-api-list=main"]
            variables = {"TANDEM_ENFORCE": mode, "TANDEM_LINK_OUTPUT": source.path.stem}
            if source.conversion is not None:
                variables["TANDEM_CONVERT"] = str(source.conversion)
            wrong = call(
                [*command, "-disable-output", str(made)],
                LD_PRELOAD=preload,
                ASAN_OPTIONS=ASAN,
                UBSAN_OPTIONS="print_stacktrace=1",
                **variables,
            )
            if wrong:
                troubles.append(wrong)
    made.unlink()
    return troubles


def lit(build: Path, *parameters: str, **variables: str) -> bool:
    command = [str(ROOT / "build/venv/bin/lit"), "-q", str(TESTS / "compiler")]
    words = [word for one in (f"build={build}", *parameters) for word in ("--param", one)]
    done = subprocess.run([*command, *words], env=environment(**variables), check=False)
    return done.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path, metavar="BUILD")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="only programs with it in their path"
    )
    given = parser.parse_args()
    build = given.build.resolve()
    release = Path(os.environ.get("TANDEM_BUILD", ROOT / "build/release")).resolve()
    asked = ["clang-19", "-print-file-name=libclang_rt.asan-x86_64.so"]
    preload = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    good = True
    if not given.only:
        good = lit(build, f"preload={preload}", ASAN_OPTIONS=ASAN) and good
        good = lit(release, MALLOC_PERTURB_=PERTURBED) and good
    with tempfile.TemporaryDirectory(prefix="tandem-sanitized-") as made:
        folder = Path(made)
        work = [one for one in sources(folder) if given.only in str(one.path)]
        with (
            Progress.automatic().bar("sanitized", len(work)) as bar,
            ThreadPoolExecutor(int(os.environ.get("TANDEM_JOBS", os.cpu_count() or 1))) as pool,
        ):
            found = []
            plain = release / "lib/tandem"
            results = pool.map(lambda one: check(build, preload, one, folder, plain), work)
            for source, one in zip(work, results, strict=True):
                bar.advance(source.path.name)
                found.append(one)
                for trouble in one:
                    print(trouble, flush=True)
    print(f"{sum(not one for one in found)} passed, {sum(bool(one) for one in found)} failed")
    return 0 if good and not any(found) else 1


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Findings as compilers print them, suppressions, and the exit status."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import CACHE, REPOSITORY, Tandem

REPORT = CACHE / "cache.json"

RELOCK = """\
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int head;
__attribute__((atomic)) void push(int job) {
  pthread_mutex_lock(&lock);COMMENT
  head = job;
  pthread_mutex_unlock(&lock);
}
static void *work(void *unused) {
  push(1);
  return unused;
}
int main(void) {
  pthread_t other;
  if (pthread_create(&other, 0, work, 0) != 0)
    return 1;
  push(2);
  return pthread_join(other, 0);
}
"""


def test_they_look_like_those_of_a_compiler(tandem: Tandem) -> None:
    text = tandem.output("analyze", REPORT, "--root", CACHE)
    assert (
        "src/cache.c:49: warning: 'cache_set_1' may reach 'fprintf', which cannot be undone, "
        "on a cold path [irrevocable-in-section]\n"
        "src/cache.c:49: note: 'cache_set' calls 'log_line' here\n"
        "src/server.c:33: note: 'log_line' calls 'fprintf' here\n"
    ) in text
    assert "4 findings, 2 suppressed" in text
    assert "volatile-reread" not in text


def test_without_the_sources_nothing_is_suppressed(tandem: Tandem, tmp_path: Path) -> None:
    text = tandem.output("analyze", REPORT, folder=tmp_path)
    assert "6 findings;" in text
    assert "[volatile-reread]" in text


def test_suppressed_ones_are_shown_when_asked_for(tandem: Tandem) -> None:
    text = tandem.output("analyze", REPORT, "--root", CACHE, "--show-suppressed")
    assert re.search(r"^src/server\.c:52: suppressed: .* \[volatile-reread\]$", text, re.MULTILINE)
    assert "src/server.c:51: note: suppressed here: any value will do\n" in text


def test_colours_on_a_terminal(tandem: Tandem) -> None:
    text = tandem.on_terminal(160, "analyze", REPORT, "--root", CACHE)
    assert "\033[1msrc/cache.c:49:\033[0m \033[35mwarning:\033[0m" in text


@pytest.mark.parametrize(
    ("option", "status"),
    [
        ("--error-on-findings", 1),
        ("--error-on-findings=lock-in-section,lock-order", 1),
        ("--error-on-findings=lock-order", 0),
        ("--error-on-findings=volatile-reread", 0),  # suppressed
    ],
)
def test_the_exit_status_when_asked_for(tandem: Tandem, option: str, status: int) -> None:
    result = tandem.run("analyze", option, REPORT, "--root", CACHE)
    assert result.returncode == status
    assert "cache_set_1" in result.stdout
    assert result.stderr == ""


def test_a_suppression_file(tandem: Tandem, tmp_path: Path) -> None:
    file = tmp_path / "allowed.toml"
    file.write_text(
        '[[suppress]]\nrule = "irrevocable-in-section"\nsection = "stats_print"\n'
        'reason = "only on demand"\n\n'
        '[[suppress]]\nrule = "lock-in-section"\nfunction = "log_line"\nfile = "*/server.c"\n'
        'reason = "a leaf lock"\n\n'
        '[[suppress]]\nrule = "lock-order"\nreason = "never needed"\n'
    )
    text = tandem.output("analyze", REPORT, "--root", CACHE, "--suppress", file)
    assert "3 findings, 4 suppressed" in text
    assert (
        f"{file}:12: warning: there is no finding of 'lock-order' here to suppress "
        "[unused-suppression]\n"
    ) in text
    assert "'stats_print' reaches" not in text
    assert "'cache_set_1' may reach" in text


def test_several_suppression_files(tandem: Tandem, tmp_path: Path) -> None:
    files = [tmp_path / "one.toml", tmp_path / "two.toml"]
    for file, rule in zip(files, ("irrevocable-in-section", "lock-in-section"), strict=True):
        file.write_text(f'[[suppress]]\nrule = "{rule}"\nreason = "known"\n')
    text = tandem.output(
        "analyze",
        "--root",
        CACHE,
        "--suppress",
        files[0],
        "--suppress",
        files[1],
        REPORT,
    )
    assert "1 finding, 5 suppressed" in text


def test_a_wrong_suppression_file(tandem: Tandem, tmp_path: Path) -> None:
    file = tmp_path / "allowed.toml"
    file.write_text('[[suppress]]\nrule = "lock-order"\n')
    assert tandem.mistake("analyze", REPORT, "--suppress", file) == (
        f"tandem analyze: {file}:1: 'reason' is missing: say why this finding is acceptable"
    )


def test_comments_in_sources_that_are_analysed(tandem: Tandem, tmp_path: Path) -> None:
    file = tmp_path / "relock.c"

    def findings(comment: str) -> list[str]:
        file.write_text(RELOCK.replace("COMMENT", comment))
        text = tandem.output("analyze", "relock.c", folder=tmp_path)
        return re.findall(r"^relock\.c:5: warning: .*\[(.*)\]$", text, re.MULTILINE)

    assert "lock-in-section" in findings("")
    assert "lock-in-section" not in findings(" // tandem: allow(lock-in-section): a leaf")
    assert "unused-suppression" in findings(" // tandem: allow(lock-order)")


def test_the_document_explains_every_rule() -> None:
    rules = (REPOSITORY / "src/compiler/report/rules.cc").read_text()
    text = re.sub(r"\s+", " ", (REPOSITORY / "docs/findings.md").read_text())
    entries = re.findall(r'Rule\{\s*"([a-z-]+)",\s*"([^"]+)"', rules)
    assert len(entries) == 15
    for name, title in entries:
        assert f"### {name} **{title[0].upper()}{title[1:]}.**" in text, name


def test_what_a_baseline_has_is_known(tandem: Tandem, tmp_path: Path) -> None:
    known = ("analyze", REPORT, "--baseline", REPORT, "--error-on-findings")
    assert "0 findings, 6 suppressed" in tandem.output(*known, folder=tmp_path)
    report = json.loads(Path(REPORT).read_text())
    # Lines move, and one more of a kind is new.
    for finding in report["findings"]:
        finding["line"] += 1
    report["findings"].append(report["findings"][0])
    later = tmp_path / "later.json"
    later.write_text(json.dumps(report))
    text = tandem.output("analyze", str(later), "--baseline", REPORT, folder=tmp_path)
    assert "1 finding, 6 suppressed" in text

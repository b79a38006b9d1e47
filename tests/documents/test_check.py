# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/check finds what is wrong with subjects of commits, the notes' index and links."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

CHECK = Path(os.environ["TANDEM_SOURCE"]) / "scripts/check"
LATER = "2027-01-01T00:00:00Z"
ROW = "| [0001](0001-a.md) | a | in force | runtime |"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "scripts").mkdir()
    shutil.copy(CHECK, tmp_path / "scripts/check")
    (tmp_path / "docs/design").mkdir(parents=True)
    git(tmp_path, "init", "--quiet")
    return tmp_path


def git(folder: Path, *words: str, at: str = LATER) -> None:
    identity = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_AUTHOR_DATE": at}
    committer = {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    plain = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    subprocess.run(
        ["git", *words], cwd=folder, env=os.environ | identity | committer | plain, check=True
    )


def check(folder: Path, name: str) -> tuple[int, str]:
    done = subprocess.run(
        [folder / "scripts/check", name], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("subject", "says"),
    [
        ("docs: say what is", None),
        ("README, docs: name `auto`", None),
        ("docs: need less", None),
        ("docs: " + "x" * 59, None),
        ("docs: " + "x" * 60, "66 characters"),
        ("say what is", "not of the form"),
        ("docs:say what is", "not of the form"),
        ("docs: say what is.", "full stop"),
        ("docs: updated figures", "'updated' is no imperative"),
        ("docs: adding figures", "'adding' is no imperative"),
    ],
)
def test_subjects(project: Path, subject: str, says: str | None) -> None:
    git(project, "commit", "--quiet", "--allow-empty", "-m", subject)
    status, output = check(project, "subjects")
    assert status == (1 if says else 0), output
    assert (says or "ok") in output


def test_old_commits_and_merges_are_exempt_also_in_a_shallow_clone(
    project: Path, tmp_path: Path
) -> None:
    git(project, "commit", "--quiet", "--allow-empty", "-m", "Old", at="2026-11-25T00:00:00Z")
    git(project, "commit", "--quiet", "--allow-empty", "-m", "docs: say so")
    clone = tmp_path / "clone"
    git(project, "clone", "--quiet", "--depth", "1", f"file://{project}", str(clone))
    (clone / "scripts").mkdir()
    shutil.copy(CHECK, clone / "scripts/check")
    for folder in (project, clone):
        status, output = check(folder, "subjects")
        assert status == 0, output
        assert "1 commits" in output


@pytest.mark.parametrize(
    ("index", "says"),
    [
        (ROW, None),
        ("", "has no row"),
        (ROW.replace("in force", "so and so"), "needs a decision, a status"),
        (ROW.replace("in force", "in force; refined by 0002"), "names 0002"),
        (f"{ROW}\n{ROW}", "twice"),
        (ROW.replace("0001-a", "0001-b"), "leads to 0001-b.md"),
    ],
)
def test_the_index_of_notes(project: Path, index: str, says: str | None) -> None:
    (project / "docs/design/0001-a.md").write_text("# 0001 A\n")
    (project / "docs/design/README.md").write_text(f"# Notes\n\n{index}\n")
    status, output = check(project, "notes")
    assert status == (1 if says else 0), output
    assert (says or "ok") in output


@pytest.mark.parametrize(
    ("link", "says"),
    [
        ("[a](b.md#one-word-more)", None),
        ("[a](#here-it-is)", None),
        ("[a](b.md#one-word)", "b.md has no heading #one-word"),
        ("[a](#nowhere)", "has no heading #nowhere"),
        ("[a](c.md)", "dead link c.md"),
    ],
)
def test_links_lead_somewhere(project: Path, link: str, says: str | None) -> None:
    (project / "docs/a.md").write_text(f"# Here `it` is\n\n{link}\n")
    (project / "docs/b.md").write_text("# B\n\n## One [word](a.md) more\n")
    status, output = check(project, "documents")
    assert status == (1 if says else 0), output
    assert (says or "ok") in output

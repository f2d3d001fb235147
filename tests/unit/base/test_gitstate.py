"""The commit that a run is stored with, on real repositories."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from railgauge.base.gitstate import git_state


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "plans"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "plan.yaml").write_text("one\n")
    (folder / "hosts.yaml").write_text("hosts\n")
    (folder / ".gitignore").write_text("ignored.yaml\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


def test_a_committed_plan_is_at_its_commit(repository):
    commit = git(repository, "rev-parse", "HEAD")
    assert git_state(repository / "plan.yaml") == (commit, False)
    assert git_state(repository / "plan.yaml", [repository / "hosts.yaml"]) == (commit, False)


def test_a_changed_plan_is_dirty_and_another_files_change_is_not_its_own(repository):
    (repository / "hosts.yaml").write_text("changed\n")
    assert git_state(repository / "plan.yaml")[1] is False
    assert git_state(repository / "plan.yaml", [repository / "hosts.yaml"])[1] is True
    (repository / "plan.yaml").write_text("two\n")
    assert git_state(repository / "plan.yaml")[1] is True
    git(repository, "add", ".")
    assert git_state(repository / "plan.yaml")[1] is True


@pytest.mark.parametrize("name", ["new.yaml", "ignored.yaml"])
def test_a_plan_that_the_commit_does_not_hold_is_dirty(repository, name):
    (repository / name).write_text("x\n")
    assert git_state(repository / name)[1] is True


def test_a_link_is_followed_to_the_plan(repository, tmp_path):
    link = tmp_path / "link.yaml"
    link.symlink_to(repository / "plan.yaml")
    assert git_state(link) == (git(repository, "rev-parse", "HEAD"), False)
    (repository / "plan.yaml").write_text("two\n")
    assert git_state(link)[1] is True


def test_a_hosts_file_outside_the_repository_is_not_in_its_commit(repository, tmp_path):
    outside = tmp_path / "hosts.yaml"
    outside.write_text("x\n")
    assert git_state(repository / "plan.yaml", [outside])[1] is True


def test_without_a_repository_or_a_commit_there_is_nothing_to_say(tmp_path):
    (tmp_path / "plan.yaml").write_text("x\n")
    assert git_state(tmp_path / "plan.yaml") == ("", False)
    git(tmp_path, "init", "-q")
    assert git_state(tmp_path / "plan.yaml") == ("", False)

"""A bare git repository, read and changed by git's own commands."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ZERO = "0" * 40
HOOK = """#!/bin/sh
# The default branch changes through pull requests only.
if [ "$1" = "$(git symbolic-ref HEAD)" ]; then
    echo "error: GH006: Protected branch update failed for $1." >&2
    exit 1
fi
"""


class GitRefused(RuntimeError):
    """git did not do it; its own words are the message."""


@dataclass(frozen=True)
class CommitFacts:
    """What one commit says about itself."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: tuple[str, str, str]
    committer: tuple[str, str, str]
    message: str


@dataclass(frozen=True)
class Difference:
    """How much lies between a merge base and a head."""

    commits: int
    files: int
    additions: int
    deletions: int


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return an environment in which only the repository's own settings count."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
        **(extra or {}),
    }


@dataclass(frozen=True)
class Bare:
    """One repository's folder. Refs are changed by compare-and-swap only."""

    path: Path

    def run(
        self, *argv: str, text: str | None = None, extra: Mapping[str, str] | None = None
    ) -> str:
        """Run git here and return what it printed. Raises GitRefused."""
        done = self.attempt(*argv, text=text, extra=extra)
        if done.returncode:
            raise GitRefused(f"git {argv[0]}: {done.stderr.strip()}")
        return done.stdout

    def attempt(
        self, *argv: str, text: str | None = None, extra: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run git here and return how it ended, whatever that is."""
        return subprocess.run(
            ("git", "--git-dir", str(self.path), *argv),
            input=text if text is not None else "",
            env=environment(extra),
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )

    def refs(self, prefix: str = "refs/") -> dict[str, str]:
        """Return every ref whose name starts with the prefix, as git sorts them."""
        lines = self.run("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        pairs = (line.rsplit(" ", 1) for line in lines)
        return {name: oid for name, oid in pairs if name.startswith(prefix)}

    def kind(self, oid: str) -> str | None:
        """Return the kind of the object with that exact id, or None when it is not here."""
        done = self.attempt("cat-file", "-t", oid)
        return done.stdout.strip() if done.returncode == 0 else None

    def tip(self, branch: str) -> str | None:
        """Return the branch's commit, or None for no such branch."""
        full = f"refs/heads/{branch}"
        return self.refs(full).get(full)

    def resolve(self, name: str) -> str | None:
        """Return the commit that a name or id stands for, or None."""
        if "\0" in name or name.startswith("-"):
            return None
        done = self.attempt("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        return done.stdout.strip() if done.returncode == 0 else None

    def is_valid_ref(self, ref: str) -> bool:
        """Tell whether git would take the name."""
        return self.attempt("check-ref-format", ref).returncode == 0

    def swap(self, ref: str, new: str, old: str) -> None:
        """Move a ref from old to new (ZERO: must not exist, is deleted). Raises GitRefused."""
        if new == ZERO:
            self.run("update-ref", "-d", ref, old)
        else:
            self.run("update-ref", ref, new, old)

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Tell whether newer contains older."""
        return self.attempt("merge-base", "--is-ancestor", older, newer).returncode == 0

    def count_between(self, base: str, head: str) -> int:
        """Count the commits that head has and base lacks."""
        return int(self.run("rev-list", "--count", f"{base}..{head}"))

    def have_common_history(self, one: str, other: str) -> bool:
        """Tell whether some commit is in both."""
        return self.attempt("merge-base", one, other).returncode == 0

    def merged_tree(self, base: str, head: str) -> str | None:
        """Return the tree of a merge of both, or None when they conflict or have no history."""
        if not self.have_common_history(base, head):
            return None
        done = self.attempt("merge-tree", "--write-tree", "--no-messages", base, head)
        match done.returncode:
            case 0:
                return done.stdout.split()[0]
            case 1:
                return None
            case _:
                raise GitRefused(f"git merge-tree: {done.stderr.strip()}")

    def commit(self, tree: str, parents: tuple[str, ...], message: str, login: str) -> str:
        """Write a commit that no ref names yet, signed with the login; return its id."""
        who = {
            f"GIT_{role}_{part}": value
            for role in ("AUTHOR", "COMMITTER")
            for part, value in (("NAME", login), ("EMAIL", f"{login}@host.invalid"))
        }
        named = [flag for parent in parents for flag in ("-p", parent)]
        return self.run("commit-tree", tree, *named, text=message, extra=who).strip()

    def read_commit(self, sha: str) -> CommitFacts:
        """Return a commit's own words. Raises GitRefused for anything but a commit."""
        form = "%H%x00%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B"
        shown = self.run("log", "-1", "--no-show-signature", f"--format={form}", sha, "--")
        sha_, tree, parents, an, ae, at, cn, ce, ct, message = shown.split("\0", 9)
        return CommitFacts(
            sha=sha_,
            tree=tree,
            parents=tuple(parents.split()),
            author=(an, ae, at),
            committer=(cn, ce, ct),
            message=message.strip(),
        )

    def difference(self, base: str, head: str) -> Difference:
        """Measure what a pull request would show between the two."""
        between = "..." if self.have_common_history(base, head) else ".."
        lines = self.run("diff", "--numstat", f"{base}{between}{head}").splitlines()
        counts = [line.split("\t")[:2] for line in lines]
        return Difference(
            commits=self.count_between(base, head),
            files=len(counts),
            additions=sum(int(plus) for plus, _ in counts if plus.isdigit()),
            deletions=sum(int(minus) for _, minus in counts if minus.isdigit()),
        )

    def with_file(self, parent: str, path: str, content: str, message: str, login: str) -> str:
        """Write a commit on the parent that sets one file; return its id."""
        blob = self.run("hash-object", "-w", "--stdin", text=content).strip()
        index = {"GIT_INDEX_FILE": str(self.path / f"index-{blob}-{parent}")}
        try:
            self.run("read-tree", parent, extra=index)
            self.run("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", extra=index)
            tree = self.run("write-tree", extra=index).strip()
        finally:
            Path(index["GIT_INDEX_FILE"]).unlink(missing_ok=True)
        return self.commit(tree, (parent,), message, login)


def make_bare(source: str, target: Path) -> Bare:
    """Copy the source's branches and tags into a new bare repository. Raises GitRefused."""
    done = subprocess.run(
        ("git", "clone", "--quiet", "--bare", "--no-hardlinks", "--", source, str(target)),
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise GitRefused(f"git clone: {done.stderr.strip()}")
    bare = Bare(target)
    bare.run("remote", "remove", "origin")
    settings = ("http.receivepack", "receive.advertiseAtomic", "receive.advertisePushOptions")
    for name in settings:
        bare.run("config", name, "true")
    bare.run("config", "gc.auto", "0")
    hook = target / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(HOOK, encoding="utf-8")
    hook.chmod(0o755)
    return bare

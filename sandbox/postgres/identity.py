"""Whom the server runs as: PostgreSQL refuses root, and we add no system user."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from sandbox.postgres.errors import NoIdentity

NAMESPACE = ("unshare", "--user", "--map-user=1000", "--map-group=1000")
DEATH_OF_KEEPER = ("setpriv", "--pdeathsig", "INT")
ACCOUNTS = ("postgres", "nobody")


@dataclass(frozen=True)
class Identity:
    """A prefix for the server's commands, and the account that has to own its files.

    `owner` is `None` where files stay ours: as an ordinary user, and in a user namespace that
    shows root as another account.
    """

    kind: str
    prefix: tuple[str, ...]
    owner: tuple[int, int] | None = None

    def own(self, path: Path) -> None:
        """Hand one file or folder to the account that the server runs as."""
        if self.owner:
            os.chown(path, *self.owner)


def identify(data: Path) -> Identity:
    """Return how to run here: directly, in a namespace, or as the account that owns the data."""
    if os.geteuid() != 0:
        return Identity("direct", ())
    made_by = data.stat().st_uid if data.exists() else 0
    if made_by:
        return as_account(pwd.getpwuid(made_by).pw_name)
    return in_namespace() or as_account(*ACCOUNTS)


def in_namespace() -> Identity | None:
    """Return root seen as another account, or `None` where user namespaces are not allowed."""
    if not shutil.which(NAMESPACE[0]) or not shutil.which(DEATH_OF_KEEPER[0]):
        return None
    allowed = subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False)
    return None if allowed.returncode else Identity("namespace", (*NAMESPACE, *DEATH_OF_KEEPER))


def as_account(*names: str) -> Identity:
    """Return the first of these accounts that exists. Raises NoIdentity."""
    for name in names:
        try:
            account = pwd.getpwnam(name)
        except KeyError:
            continue
        ids = (account.pw_uid, account.pw_gid)
        become = ("setpriv", f"--reuid={ids[0]}", f"--regid={ids[1]}", "--clear-groups")
        return Identity("account", (*become, *DEATH_OF_KEEPER[1:]), ids)
    raise NoIdentity(f"none of the accounts {', '.join(names)} exists")

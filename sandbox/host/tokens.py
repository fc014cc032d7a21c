"""Tokens of the host's accounts, in one file that only its owner can read."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

BOT = "outlast-bot"
REVIEWER = "demo-reviewer"
ADMIN = "host-admin"
LOGINS = (BOT, REVIEWER, ADMIN)


class UnreadableTokens(RuntimeError):
    """tokens.json is not what `ensure` wrote; delete it to have new tokens made."""


@dataclass(frozen=True)
class Tokens:
    """One token for each login; the values stay out of every representation."""

    by_login: dict[str, str] = field(repr=False)

    def of(self, login: str) -> str:
        """Return the login's token; KeyError for a login without one."""
        return self.by_login[login]

    def login_of(self, authorization: str | None) -> str | None:
        """Return the login that an Authorization header proves, or None."""
        presented = _presented(authorization or "")
        if not presented:
            return None
        for login, token in self.by_login.items():
            if hmac.compare_digest(presented.encode(), token.encode()):
                return login
        return None


def ensure(folder: Path) -> Tokens:
    """Return the folder's tokens, made at the first call. Raises UnreadableTokens."""
    path = folder / "tokens.json"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        _write_once(path, {login: secrets.token_hex(20) for login in LOGINS})
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UnreadableTokens(f"{path} is not a file of tokens; delete it") from error
    by_login = content if isinstance(content, dict) else {}
    lacking = [login for login in LOGINS if not isinstance(by_login.get(login), str)]
    if lacking:
        raise UnreadableTokens(f"{path}: {', '.join(lacking)}: no token; delete the file")
    return Tokens({login: by_login[login] for login in LOGINS})


def _write_once(path: Path, content: dict[str, str]) -> None:
    """Put the file in place whole; of two writers at once, the first one's tokens stay."""
    draft = path.with_name(f".tokens-{secrets.token_hex(6)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(content, file)
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def _presented(authorization: str) -> str:
    scheme, _, rest = authorization.partition(" ")
    match scheme.lower():
        case "bearer" | "token":
            return rest.strip()
        case "basic":
            return _password(rest.strip())
        case _:
            return ""


def _password(encoded: str) -> str:
    try:
        decoded = base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return decoded.partition(":")[2]

"""A setting that says something wrong is found at the start, by the name of its field."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from activities.secrets import SecretSource
from cli.settings import NotConfigured, Settings
from orchestrator.domain.failures import ActivityFailed, FailureKind
from sandbox.host.tokens import UnreadableTokens, ensure
from tests.cli.conftest import Command

NOWHERE = "postgresql+psycopg://nobody@127.0.0.1:1/none"
WRONG = [
    ("{", "no JSON"),
    ("[]", "no JSON object"),
    ('{"reviewers": [NaN]}', "reviewers.0"),
    ('{"repair_attempts": 0}', "repair_attempts"),
    ('{"repair_attempts": "4"}', "repair_attempts"),
    ('{"may_merge_after_approval": "false"}', "may_merge_after_approval"),
    ('{"reviewers": "olga"}', "reviewers"),
    ('{"reviewers": ["olga", 7]}', "reviewers.1"),
    ('{"merge_method": "rebase"}', "merge_method"),
    ('{"attempts": 4}', "attempts"),
    ('{"repository": "demo/shop"}', "repository"),
    ('{"approval_expires_s": Infinity}', "approval_expires_s: no finite"),
    ('{"approval_expires_s": 1e999}', "approval_expires_s: no finite"),
]


@pytest.mark.parametrize(("policy", "named"), WRONG)
def test_a_wrong_policy_is_refused_by_the_name_of_its_field(
    monkeypatch: pytest.MonkeyPatch, policy: str, named: str
) -> None:
    monkeypatch.setenv("OUTLAST_POLICY", policy)
    with pytest.raises(NotConfigured, match="OUTLAST_POLICY") as refused:
        Settings.read()
    assert named in str(refused.value)


def test_a_right_policy_is_kept_as_it_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = {"reviewers": ["olga"], "repair_attempts": 2, "approval_expires_s": 60}
    monkeypatch.setenv("OUTLAST_POLICY", json.dumps(policy))
    assert Settings.read().policy == policy


@pytest.mark.parametrize("name", ["api", "up"])
def test_a_process_does_not_start_with_a_wrong_policy(command: Command, name: str) -> None:
    given = command.with_(OUTLAST_DSN=NOWHERE, OUTLAST_POLICY='{"max_files": 0}')
    said = given.refusal(name)
    assert "OUTLAST_POLICY: max_files" in said
    assert not (command.folder / "home" / "postgres").exists()


@pytest.mark.parametrize("name", ["worker", "reconciler"])
def test_a_process_that_uses_secrets_does_not_start_with_a_wrong_file(
    command: Command, name: str
) -> None:
    home = command.folder / "home"
    home.mkdir()
    (home / "secrets.toml").write_text("[HOST_TOKEN]\n")
    given = command.with_(OUTLAST_DSN=NOWHERE, OUTLAST_HOST_URL="http://127.0.0.1:1")
    assert "secrets.toml: HOST_TOKEN" in given.refusal(name)


@pytest.mark.parametrize(
    ("file", "text", "named"),
    [
        ("tokens.json", "{", "tokens.json is unreadable"),
        ("tokens.json", '{"submitter": "a", "operator": ""}', "reviewer, operator: no token"),
        ("host/tokens.json", '{"outlast-bot": "a", "host-admin": 5}', "demo-reviewer, host-admin"),
    ],
)
def test_up_names_a_damaged_file_of_tokens_before_it_starts_anything(
    command: Command, file: str, text: str, named: str
) -> None:
    home = command.folder / "home"
    (home / "host").mkdir(parents=True)
    (home / file).write_text(text)
    said = command.refusal("up")
    assert named in said
    assert "delete" in said
    assert not (home / "postgres").exists()


@pytest.mark.parametrize("text", ["[]", "{}", "7", "{", '{"outlast-bot": 7}'])
def test_no_file_that_is_none_of_tokens_is_taken_for_one(tmp_path: Path, text: str) -> None:
    (tmp_path / "tokens.json").write_text(text)
    with pytest.raises(UnreadableTokens, match="delete"):
        ensure(tmp_path)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (b'A = "x"\nB = ca\xffnary\n', "UnicodeDecodeError"),
        (b'A = "x"\nB = canary\n', "line 2, column 5"),
        (b'A = "x"\nB = ["canary"]\nC = true\n', "B, C: no text"),
    ],
)
def test_a_wrong_file_of_secrets_is_permanent_and_none_of_it_is_said(
    tmp_path: Path, text: bytes, named: str
) -> None:
    file = tmp_path / "secrets.toml"
    file.write_bytes(text)
    with pytest.raises(ActivityFailed, match=r"secrets\.toml") as failed:
        SecretSource(file).get("A")
    assert failed.value.kind is FailureKind.PERMANENT
    assert named in failed.value.reason
    assert "canary" not in failed.value.reason
    assert failed.value.__cause__ is None


def test_secrets_may_be_numbers_and_their_file_may_be_missing(tmp_path: Path) -> None:
    SecretSource(tmp_path / "none.toml").check()
    (tmp_path / "secrets.toml").write_text("PIN = 1234\n")
    assert SecretSource(tmp_path / "secrets.toml").get("PIN") == "1234"

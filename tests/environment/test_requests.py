"""Light requests and files: whatever is asked, the sandbox answers and lives on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from activities.environment.provider import Environments, Prepared
from orchestrator.domain.failures import ActivityFailed

Prepare = Callable[..., Prepared]


@pytest.mark.parametrize("path", ["/wörter/é", "/a?b=ü", "/with%20space"])
def test_a_path_beyond_ascii_is_asked_for_as_a_browser_would(
    environments: Environments, prepare: Prepare, path: str
) -> None:
    with environments.session(prepare()) as session:
        session.start_app()
        assert session.request("GET", path).status == 404
        assert session.request("GET", "/form").status == 200


@pytest.mark.parametrize(
    ("to", "status", "shown"),
    [
        ("../form", 302, "Order desk"),
        ("/form", 303, "Order desk"),
        ("?to=/form", 302, "Order desk"),
        ("/order", 307, "Ordered 4 Red"),
        ("/order", 303, "Nothing at /order"),
    ],
)
def test_a_redirection_is_followed_as_a_browser_would(
    environments: Environments, prepare: Prepare, to: str, status: int, shown: str
) -> None:
    with environments.session(prepare()) as session:
        session.start_app()
        form = {"amount": "4", "colour": "Red"}
        answer = session.request("POST", f"/go/{status}?to={to}", form=form, follow=True)
        assert shown in answer.body


def test_a_redirection_to_elsewhere_is_not_followed(
    environments: Environments, prepare: Prepare
) -> None:
    with environments.session(prepare()) as session:
        session.start_app()
        answer = session.request("GET", "/go/302?to=http://192.0.2.7/form", follow=True)
        assert (answer.status, answer.url) == (302, "/go/302?to=http://192.0.2.7/form")


def test_a_file_that_cannot_be_written_is_named_and_the_sandbox_lives_on(
    environments: Environments, prepare: Prepare
) -> None:
    with environments.session(prepare()) as session:
        with pytest.raises(ActivityFailed, match="no/such/folder"):
            session.write("no/such/folder/x.txt", "hello")
        assert session.run(["{python}", "-c", "print('lives')"], 10).output == "lives\n"

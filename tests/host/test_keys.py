"""Idempotency keys: one effect for each key, whoever repeats it and whatever became of it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import httpx

from tests.host.conftest import Shop, client_of
from tests.support.host import running_host

THREADS = 8


def at_once(work: Callable[[int], httpx.Response]) -> list[httpx.Response]:
    """Do the work in all threads, released together."""
    barrier = Barrier(THREADS)

    def wait_and_work(number: int) -> httpx.Response:
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(wait_and_work, range(THREADS)))


def statuses(answers: list[httpx.Response]) -> list[int]:
    """Return the sorted statuses."""
    return sorted(one.status_code for one in answers)


def test_a_repeated_key_returns_the_first_result(shop: Shop) -> None:
    headers = {"Idempotency-Key": "one"}
    body = {"title": "t", "body": "<!-- outlast:i:op-1 -->"}
    first, second = (
        shop.bot.post(f"{shop.api}/issues", json=body, headers=headers) for _ in range(2)
    )
    assert (first.status_code, first.json()) == (second.status_code, second.json())
    assert len(shop.bot.get(f"{shop.api}/issues").json()) == 1
    entries = [one for one in shop.journal() if one["method"] == "POST"]
    assert [one["applied"] for one in entries] == [True, False]
    assert {one["idempotency_key"] for one in entries} == {"one"}
    assert {one["marker"] for one in entries} == {"outlast:i:op-1"}


def test_a_key_with_another_body_or_route_is_refused(shop: Shop) -> None:
    headers = {"Idempotency-Key": "two"}
    made = shop.bot.post(f"{shop.api}/issues", json={"title": "t"}, headers=headers)
    address = f"{shop.api}/issues/{made.json()['number']}/comments"
    for path, body in ((f"{shop.api}/issues", {"title": "u"}), (address, {"body": "t"})):
        assert shop.bot.post(path, json=body, headers=headers).status_code == 422
    assert len(shop.bot.get(f"{shop.api}/issues").json()) == 1
    assert shop.bot.get(address).json() == []


def test_a_key_belongs_to_its_login(shop: Shop) -> None:
    headers = {"Idempotency-Key": "three"}
    numbers = [
        client.post(f"{shop.api}/issues", json={"title": "t"}, headers=headers).json()["number"]
        for client in (shop.bot, shop.reviewer)
    ]
    assert numbers == [1, 2]


def test_a_refusal_spends_no_key(shop: Shop) -> None:
    body = {"title": "t", "head": "later", "base": "main"}
    headers = {"Idempotency-Key": "four"}
    assert shop.bot.post(f"{shop.api}/pulls", json=body, headers=headers).status_code == 422
    shop.branch("later")
    assert shop.bot.post(f"{shop.api}/pulls", json=body, headers=headers).status_code == 201


def test_a_key_outlives_what_it_made(shop: Shop) -> None:
    body = {"ref": "refs/heads/topic", "sha": shop.main}
    headers = {"Idempotency-Key": "five"}
    first = shop.bot.post(f"{shop.api}/git/refs", json=body, headers=headers)
    assert shop.bot.delete(f"{shop.api}/git/refs/heads/topic").status_code == 204
    again = shop.bot.post(f"{shop.api}/git/refs", json=body, headers=headers)
    assert (again.status_code, again.json()) == (201, first.json())
    assert shop.bare.tip("topic") is None


def test_every_create_takes_a_key(shop: Shop) -> None:
    shop.branch("topic")
    pull = {"title": "t", "head": "topic", "base": "main"}
    ref = {"ref": "refs/heads/other", "sha": shop.main}
    for number, (path, body) in enumerate(
        [
            ("/issues", {"title": "t"}),
            ("/issues/1/comments", {"body": "c"}),
            ("/git/refs", ref),
            ("/pulls", pull),
            ("/pulls/2/reviews", {"event": "COMMENT", "body": "r"}),
        ]
    ):
        headers = {"Idempotency-Key": f"create-{number}"}
        first, second = (
            shop.bot.post(shop.api + path, json=body, headers=headers) for _ in range(2)
        )
        assert first.status_code in (200, 201), first.text
        assert first.json() == second.json()


def test_of_eight_requests_with_one_key_exactly_one_is_applied(shop: Shop) -> None:
    headers = {"Idempotency-Key": "eight"}
    answers = at_once(
        lambda _: shop.bot.post(f"{shop.api}/issues", json={"title": "t"}, headers=headers)
    )
    assert statuses(answers) == [201] * THREADS
    assert len({one.json()["id"] for one in answers}) == 1
    assert [one["applied"] for one in shop.journal()].count(True) == 1


def test_of_eight_creations_of_one_ref_exactly_one_succeeds(shop: Shop) -> None:
    revisions = [shop.branch(f"topic{number}", f"{number}\n") for number in range(THREADS)]

    def create(number: int) -> httpx.Response:
        body = {"ref": "refs/heads/prize", "sha": revisions[number]}
        return shop.bot.post(f"{shop.api}/git/refs", json=body)

    answers = at_once(create)
    assert statuses(answers) == [201, *[422] * (THREADS - 1)]
    winner = next(one for one in answers if one.status_code == 201)
    assert shop.bare.tip("prize") == winner.json()["object"]["sha"]


def test_of_eight_pull_requests_of_one_head_exactly_one_is_opened(shop: Shop) -> None:
    shop.branch("topic")
    body = {"title": "t", "head": "topic", "base": "main"}
    answers = at_once(lambda _: shop.bot.post(f"{shop.api}/pulls", json=body))
    assert statuses(answers) == [201, *[422] * (THREADS - 1)]
    assert len(shop.bot.get(f"{shop.api}/pulls?state=all").json()) == 1


def test_of_eight_merges_exactly_one_lands(shop: Shop) -> None:
    sha = shop.branch("topic")
    address = f"{shop.api}/pulls/{shop.open_pull('topic')['number']}/merge"
    answers = at_once(lambda _: shop.bot.put(address, json={"sha": sha}))
    assert statuses(answers) == [200, *[405] * (THREADS - 1)]
    assert shop.bare.run("rev-list", "--count", "main").strip() == "3"


def test_the_extension_is_announced_and_can_be_switched_off(shop: Shop, tmp_path: Path) -> None:
    announced = httpx.get(f"{shop.host.url}/outlast/extensions", trust_env=False)
    assert announced.json() == {"idempotency_keys": True}
    with (
        running_host(tmp_path / "host", keys=False) as plain,
        client_of(plain, "host-admin", judged=False) as admin,
    ):
        assert admin.get("/outlast/extensions").json() == {"idempotency_keys": False}
        order = {"repository": "demo/shop", "source": str(shop.folder)}
        assert admin.post("/outlast/repositories", json=order).status_code == 201
        headers = {"Idempotency-Key": "one"}
        numbers = [
            admin.post("/repos/demo/shop/issues", json={"title": "t"}, headers=headers).json()[
                "number"
            ]
            for _ in range(2)
        ]
        assert numbers == [1, 2]

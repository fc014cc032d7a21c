"""A workshop on fresh data for each test."""

import tempfile
import unittest
from contextlib import closing
from datetime import date
from pathlib import Path

from workshop import members
from workshop.application import create_app
from workshop.database import connect, seed

TODAY = date(2026, 10, 14)


class SeededCase(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        seed(self.folder)
        self.db = self.enterContext(closing(connect(self.folder)))

    def member(self, card: str) -> members.Member:
        return members.by_card(self.db, card)


class WebCase(SeededCase):
    def setUp(self) -> None:
        super().setUp()
        self.client = create_app(self.folder).test_client()

    def sign_in(self, card: str, pin: str) -> None:
        self.client.post("/sign-in", data={"card": card, "pin": pin})

    def get(self, path: str, status: int = 200) -> str:
        answer = self.client.get(path)
        self.assertEqual(answer.status_code, status)
        return " ".join(answer.text.split())

    def post(self, path: str, status: int = 200, **form: str) -> str:
        answer = self.client.post(path, data=form, follow_redirects=True)
        self.assertEqual(answer.status_code, status)
        return " ".join(answer.text.split())

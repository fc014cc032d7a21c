"""A shop with the real fixtures in a folder of its own, and a visitor who uses it."""

import tempfile
import unittest
from pathlib import Path

from werkzeug.security import generate_password_hash

from shop.application import create_application
from shop.database import connect
from shop.seed import fill


class ShopTest(unittest.TestCase):
    """Each test has a freshly seeded shop, a visitor, and a shopper "tess" who may sign in."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.data_dir = Path(folder.name)
        self.connection = connect(self.data_dir)
        self.addCleanup(self.connection.close)
        fill(self.connection, first_turn=0)
        self.connection.execute(
            "INSERT INTO shopper (name, password_hash) VALUES ('tess', ?)",
            (generate_password_hash("only in tests", method="pbkdf2:sha256:1"),),
        )
        self.connection.commit()
        self.visitor = create_application(self.data_dir).test_client()

    def page(self, path: str, status: int = 200) -> str:
        answer = self.visitor.get(path, follow_redirects=True)
        self.assertEqual(answer.status_code, status)
        return answer.text

    def send(self, path: str, **form: str) -> str:
        return self.visitor.post(path, data=form, follow_redirects=True).text

    def add(self, ware: str, quantity: str) -> str:
        return self.send("/basket/lines", ware=ware, quantity=quantity)

    def sign_in(self) -> str:
        return self.send("/account/sign-in", username="tess", password="only in tests")

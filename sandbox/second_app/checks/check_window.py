"""What is seen through the window."""

import io
import tempfile
import unittest
from pathlib import Path
from urllib.parse import urlencode
from wsgiref.util import setup_testing_defaults

from refuge.opening import open_desk
from refuge.web import Window


class WindowCheck(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.window = Window(open_desk(Path(folder.name)))
        self.status = ""
        self.location = ""

    def call(self, method: str, path: str, **form: str) -> str:
        path, _, query = path.partition("?")
        body = urlencode(form).encode()
        environ = {
            "REQUEST_METHOD": method,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_LENGTH": str(len(body)),
            "wsgi.input": io.BytesIO(body),
        }
        setup_testing_defaults(environ)

        def start(status: str, headers: list[tuple[str, str]]) -> None:
            self.status = status[:3]
            self.location = dict(headers).get("Location", "")

        return b"".join(self.window(environ, start)).decode()

    def test_the_highest_hut_comes_first(self) -> None:
        page = self.call("GET", "/")
        self.assertLess(page.index("Adlerhorst"), page.index("Murmeltal"))
        self.assertLess(page.index("Murmeltal"), page.index("Gamsblick"))

    def test_a_hut_shows_a_week_of_nights(self) -> None:
        page = self.call("GET", "/huts/adler?from=2026-07-03")
        self.assertIn("<td>2026-07-04</td><td>0</td><td>Ines, Jonas</td>", page)
        self.assertIn("<td>2026-07-09</td><td>6</td><td>nobody</td>", page)
        self.assertNotIn("<td>2026-07-10</td>", page)
        self.assertIn("from=2026-07-10", page)
        self.assertIn("Waiting: 1", page)

    def test_asking_leads_to_the_stay(self) -> None:
        self.call(
            "POST", "/huts/gams/stays", guest="Ö <x>", arrival="2026-08-01", nights="2", beds="2"
        )
        self.assertEqual((self.status, self.location), ("303", "/stays/GA006"))
        page = self.call("GET", self.location)
        self.assertIn("Ö &lt;x&gt;", page)
        self.assertIn("2026-08-01 until 2026-08-03", page)
        self.assertIn("<dd>112.40</dd>", page)
        self.assertIn("<dd>confirmed</dd>", page)

    def test_a_member_pays_less(self) -> None:
        form = {"guest": "Uta", "arrival": "2026-08-01", "nights": "1", "beds": "1"}
        self.call("POST", "/huts/gams/stays", **form, member="yes")
        self.assertIn("<dd>17.30</dd>", self.call("GET", self.location))

    def test_cancelling_shows_the_fee(self) -> None:
        self.call("POST", "/stays/MU005/cancel")
        page = self.call("GET", self.location)
        self.assertIn("Cancellation fee: 58.00", page)
        self.assertIn("<dd>cancelled</dd>", page)
        self.assertNotIn("Cancel this stay", page)

    def test_a_declined_wish_says_why(self) -> None:
        page = self.call("POST", "/huts/gams/stays", guest="Uta", arrival="soon")
        self.assertEqual(self.status, "422")
        self.assertIn("Please give the day", page)
        self.call("GET", "/stays/XX999")
        self.assertEqual(self.status, "422")

    def test_a_strange_path_is_lost(self) -> None:
        self.call("GET", "/cellar")
        self.assertEqual(self.status, "404")

    def test_the_window_says_that_it_is_up(self) -> None:
        self.assertIn('"nonce"', self.call("GET", "/up"))
        self.assertEqual(self.status, "200")

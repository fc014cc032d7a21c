from tests.seeded import WebCase


class PagesTest(WebCase):
    def test_the_workshop_says_that_it_is_ready(self) -> None:
        self.assertIn('"nonce"', self.get("/ready"))

    def test_the_catalogue_leads_on(self) -> None:
        page = self.get("/tools")
        self.assertIn("Tools 1 to 8 of 24", page)
        self.assertIn("Page 1 of 3", page)
        self.assertIn("Next page", page)
        self.assertNotIn("Previous page", page)

    def test_what_is_not_there_is_not_found(self) -> None:
        self.get("/tools/anvil", 404)
        self.get("/tools?page=9", 404)
        self.get("/cellar", 404)

    def test_a_wrong_pin_is_refused(self) -> None:
        page = self.post("/sign-in", 422, card="W-101", pin="0000")
        self.assertIn("do not belong together", page)

    def test_a_member_borrows(self) -> None:
        self.sign_in("w101", "1101")
        page = self.post("/tools/jigsaw/borrow", days="4")
        self.assertIn("Jigsaw is yours until Wed 21 Oct 2026.", page)
        self.assertIn("You may borrow 1 more.", page)

    def test_a_refusal_is_shown(self) -> None:
        self.sign_in("W-101", "1101")
        page = self.post("/tools/jigsaw/borrow", 422, days="soon")
        self.assertIn("Please give the number of days.", page)
        self.assertIn('value="soon"', page)

    def test_the_desk_is_for_volunteers(self) -> None:
        self.assertEqual(self.client.get("/desk").status_code, 302)
        self.sign_in("W-101", "1101")
        self.get("/desk", 404)

    def test_a_tool_is_taken_back_at_the_desk(self) -> None:
        self.sign_in("W-100", "1000")
        page = self.post("/desk/return", loan="L-0004", condition="fine")
        self.assertIn("Late: 12.00", page)
        page = self.post("/desk/return", 422, loan="ladder", condition="fine")
        self.assertIn("Please give the number of the loan", page)

from datetime import date

from tests.seeded import TODAY, SeededCase
from workshop import fees, loans, reservations
from workshop.catalogue import tool_by_slug
from workshop.members import Refused


class LendingTest(SeededCase):
    def borrow(self, card: str, slug: str, days: int = 3) -> date:
        tool = tool_by_slug(self.db, slug)
        return loans.borrow(self.db, self.member(card), tool, days, False, TODAY)

    def test_a_loan_takes_a_copy_away(self) -> None:
        self.assertEqual(self.borrow("W-101", "jigsaw"), date(2026, 10, 17))
        self.assertEqual(tool_by_slug(self.db, "jigsaw")["free"], 1)

    def test_the_desk_says_why_not(self) -> None:
        for card, slug, days, why in (
            ("W-101", "jigsaw", 8, "1 to 7 days"),
            ("W-105", "jigsaw", 3, "run out"),
            ("W-103", "jigsaw", 3, "allows 1 loans"),
            ("W-101", "chipper", 2, "No copy is here"),
        ):
            with self.subTest(card=card, slug=slug), self.assertRaisesRegex(Refused, why):
                self.borrow(card, slug, days)

    def test_a_loan_is_renewed(self) -> None:
        later = loans.renew(self.db, self.member("W-101"), 7, TODAY)
        self.assertEqual(later, date(2026, 10, 23))

    def test_nobody_renews_what_others_wait_for(self) -> None:
        with self.assertRaisesRegex(Refused, "waiting"):
            loans.renew(self.db, self.member("W-101"), 6, TODAY)

    def test_a_late_return_costs(self) -> None:
        loans.take_back(self.db, 4, "fine", False, TODAY)
        self.assertEqual(fees.debt(self.db, self.member("W-106").id), 1200)
        with self.assertRaisesRegex(Refused, "ended already"):
            loans.take_back(self.db, 4, "fine", False, TODAY)

    def test_a_returned_tool_is_held_for_the_first_in_line(self) -> None:
        loans.take_back(self.db, 10, "fine", False, TODAY)
        held = reservations.of_member(self.db, self.member("W-102").id)[0]
        self.assertEqual((held["state"], held["held_until"]), ("ready", "2026-10-17"))
        self.assertEqual(tool_by_slug(self.db, "tile-cutter")["free"], 0)

    def test_a_free_tool_is_held_at_once(self) -> None:
        tool = tool_by_slug(self.db, "jigsaw")
        said = reservations.reserve(self.db, self.member("W-101"), tool, TODAY)
        self.assertEqual(said, "Jigsaw is held for you until Sat 17 Oct 2026.")

    def test_nobody_reserves_twice(self) -> None:
        tool = tool_by_slug(self.db, "tile-cutter")
        with self.assertRaisesRegex(Refused, "already"):
            reservations.reserve(self.db, self.member("W-101"), tool, TODAY)

import unittest
from datetime import date

from workshop.days import OpeningDays, show_day

FAR = date(2027, 12, 31)


class DaysTest(unittest.TestCase):
    def setUp(self) -> None:
        self.opening = OpeningDays([date(2026, 10, 20)])

    def test_sundays_and_mondays_are_closed(self) -> None:
        self.assertFalse(self.opening.is_open(date(2026, 10, 18)))
        self.assertFalse(self.opening.is_open(date(2026, 10, 19)))
        self.assertTrue(self.opening.is_open(date(2026, 10, 21)))

    def test_a_loan_ends_on_an_open_day(self) -> None:
        wednesday = date(2026, 10, 14)
        self.assertEqual(self.opening.due_day(wednesday, 3, FAR), date(2026, 10, 17))
        self.assertEqual(self.opening.due_day(wednesday, 4, FAR), date(2026, 10, 21))

    def test_closed_days_are_not_late_days(self) -> None:
        due = date(2026, 10, 16)
        self.assertEqual(self.opening.days_late(due, due), 0)
        self.assertEqual(self.opening.days_late(due, date(2026, 10, 20)), 1)
        self.assertEqual(self.opening.days_late(due, date(2026, 10, 22)), 3)

    def test_days_are_shown_with_their_weekday(self) -> None:
        self.assertEqual(show_day(date(2026, 10, 4)), "Sun 4 Oct 2026")
        self.assertEqual(show_day("2026-12-24"), "Thu 24 Dec 2026")

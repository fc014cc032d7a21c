"""The desk's rules, and its memory."""

import tempfile
import unittest
from datetime import date
from pathlib import Path

from refuge.desk import Declined, Desk
from refuge.journal import Journal
from refuge.model import Standing
from refuge.opening import open_desk


class DeskCheck(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.desk = open_desk(self.folder)

    def standing(self, code: str) -> Standing:
        return self.desk.stays[code].standing

    def test_whoever_does_not_fit_waits(self) -> None:
        self.assertEqual(self.standing("AD001"), Standing.CONFIRMED)
        self.assertEqual(self.standing("AD002"), Standing.CONFIRMED)
        self.assertEqual(self.standing("AD003"), Standing.WAITING)

    def test_free_beds_are_counted_night_by_night(self) -> None:
        free = [self.desk.free_beds("adler", date(2026, 7, day)) for day in (2, 3, 4, 5, 6, 7)]
        self.assertEqual(free, [6, 2, 0, 4, 4, 6])

    def test_a_stay_may_take_the_last_bed(self) -> None:
        stay = self.desk.ask("adler", "Nora", date(2026, 7, 3), 1, 2, False)
        self.assertEqual(stay.standing, Standing.CONFIRMED)

    def test_a_cancelled_stay_makes_room_for_the_first_that_fits(self) -> None:
        fee = self.desk.cancel("AD001")
        self.assertEqual(fee, 0)
        self.assertEqual(self.standing("AD003"), Standing.CONFIRMED)
        self.assertEqual(self.desk.waiting("adler"), [])

    def test_a_late_cancellation_costs_and_a_waiting_one_does_not(self) -> None:
        self.assertEqual(self.desk.cancel("MU005"), 5800)
        self.assertEqual(self.desk.cancel("AD003"), 0)

    def test_a_stay_is_cancelled_once(self) -> None:
        self.desk.cancel("AD001")
        with self.assertRaises(Declined):
            self.desk.cancel("AD001")

    def test_guests_of_a_night_are_listed_by_name(self) -> None:
        self.desk.ask("gams", "Anton", date(2026, 7, 11), 1, 1, False)
        names = [stay.guest for stay in self.desk.sleeping("gams", date(2026, 7, 11))]
        self.assertEqual(names, ["Anton", "Lena"])

    def test_nonsense_is_declined(self) -> None:
        good = {"hut": "gams", "guest": "Ole", "arrival": date(2026, 8, 1), "nights": 1, "beds": 1}
        for wrong in (
            {"hut": "cellar"},
            {"guest": "  "},
            {"nights": 0},
            {"nights": 15},
            {"beds": 0},
            {"beds": 13},
            {"arrival": date(2026, 6, 9)},
            {"arrival": date(2026, 10, 25)},
        ):
            with self.subTest(wrong), self.assertRaises(Declined):
                self.desk.ask(**{**good, **wrong}, member=False)

    def test_the_edges_are_allowed(self) -> None:
        self.desk.ask("gams", "Ole", self.desk.today, 14, 1, False)
        self.desk.ask("gams", "Pia", date(2026, 10, 24), 1, 1, False)

    def test_a_desk_that_reads_the_journal_knows_the_same(self) -> None:
        self.desk.cancel("AD001")
        again = Desk(Journal(self.folder))
        self.assertEqual((again.stays, again.huts), (self.desk.stays, self.desk.huts))
        self.assertEqual(again.today, date(2026, 6, 10))

"""Prices and fees."""

import unittest
from dataclasses import replace
from datetime import date

from refuge.model import Hut, Standing, Stay
from refuge.tariff import bed_rate, cancellation_fee, price_of
from refuge.views import Markup, fill, francs

HUT = Hut("adler", "Adlerhorst", 2310, 6, 3200, date(2026, 10, 4))
STAY = Stay("AD001", "adler", "Ines", date(2026, 7, 3), 2, 3, False, Standing.CONFIRMED)


class Tariff(unittest.TestCase):
    def test_members_pay_six_tenths(self) -> None:
        self.assertEqual([bed_rate(HUT, False), bed_rate(HUT, True)], [3200, 1920])

    def test_every_bed_and_night_is_paid_with_tax(self) -> None:
        self.assertEqual(price_of(HUT, STAY), 6 * 3200 + 6 * 110)

    def test_five_nights_are_a_long_stay(self) -> None:
        self.assertEqual(price_of(HUT, replace(STAY, nights=4, beds=1)), 4 * 3310)
        self.assertEqual(price_of(HUT, replace(STAY, nights=5, beds=1)), 13600 + 5 * 110)

    def test_fees_grow_as_the_day_comes_near(self) -> None:
        fees = [
            cancellation_fee(HUT, STAY, date.fromisoformat(today))
            for today in ("2026-06-19", "2026-06-20", "2026-06-30", "2026-07-01")
        ]
        self.assertEqual(fees, [0, 4800, 4800, 9600])

    def test_money_and_names_are_written_safely(self) -> None:
        self.assertEqual(francs(12005), "120.05")
        self.assertIn("&lt;b&gt;", fill("sorry", why="<b>"))
        self.assertIn("<b>", fill("sorry", why=Markup("<b>")))


class Nights(unittest.TestCase):
    def test_the_day_of_departure_is_not_a_night(self) -> None:
        self.assertEqual(STAY.departure, date(2026, 7, 5))
        covered = [STAY.covers(date(2026, 7, day)) for day in (2, 3, 4, 5)]
        self.assertEqual(covered, [False, True, True, False])
        self.assertEqual(STAY.each_night(), [date(2026, 7, 3), date(2026, 7, 4)])

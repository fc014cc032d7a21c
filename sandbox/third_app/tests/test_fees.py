import unittest

from tests.seeded import TODAY, SeededCase
from workshop import fees


class RatesTest(unittest.TestCase):
    def test_the_first_late_day_is_free(self) -> None:
        self.assertEqual(fees.late_fee(150, 18000, 0, "full"), 0)
        self.assertEqual(fees.late_fee(150, 18000, 1, "full"), 0)
        self.assertEqual(fees.late_fee(150, 18000, 4, "full"), 450)

    def test_late_fees_have_a_cap(self) -> None:
        self.assertEqual(fees.late_fee(300, 6000, 40, "full"), 2400)

    def test_repairs_cost_a_part_of_the_value(self) -> None:
        self.assertEqual(fees.condition_fee("damaged", 18000), 2700)
        self.assertEqual(fees.condition_fee("fine", 18000), 0)

    def test_amounts_are_read(self) -> None:
        self.assertEqual(fees.read_money("4"), 400)
        self.assertEqual(fees.read_money(" 4.50 "), 450)
        self.assertIsNone(fees.read_money("-3"))
        self.assertIsNone(fees.read_money("four"))

    def test_money_has_two_places(self) -> None:
        self.assertEqual(fees.show_money(1205), "12.05")


class LedgerTest(SeededCase):
    def test_a_fee_is_written_down(self) -> None:
        member = self.member("W-101")
        fees.charge(self.db, member.id, 7, "Dirty", 400, TODAY)
        fees.charge(self.db, member.id, 7, "Late", 0, TODAY)
        self.assertEqual([fee["owed"] for fee in fees.open_fees(self.db, member.id)], [400])

    def test_paying_all_leaves_nothing(self) -> None:
        member = self.member("W-104")
        self.assertEqual(fees.pay(self.db, member.id, 1750), 0)
        self.assertEqual(fees.debt(self.db, member.id), 0)

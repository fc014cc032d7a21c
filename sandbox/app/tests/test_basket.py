"""What a basket costs, and what may be put into it."""

import unittest

from shop.basket import Basket, Line, QuantityRefused, check_quantity, read_quantity
from shop.money import show_money
from shop.wares import Ware
from tests.visitor import ShopTest


def basket_of(price: int, quantity: int, gift_wrapped: bool = False) -> Basket:
    return Basket((Line(Ware("thing", "Thing", "A thing.", price), quantity),), gift_wrapped)


class CostTest(unittest.TestCase):
    def test_goods_count_every_piece(self) -> None:
        self.assertEqual(basket_of(8_50, 3).goods, 25_50)

    def test_a_small_basket_pays_delivery(self) -> None:
        self.assertEqual(basket_of(8_50, 3).total, 30_00)

    def test_delivery_is_free_from_fifty_on(self) -> None:
        self.assertEqual(basket_of(49_99, 1).delivery, 4_50)
        self.assertEqual(basket_of(50_00, 1).delivery, 0)

    def test_a_tenth_is_taken_off_from_a_hundred_on(self) -> None:
        self.assertEqual(basket_of(99_99, 1).total, 99_99)
        self.assertEqual(basket_of(50_00, 2).discount, 10_00)
        self.assertEqual(basket_of(50_00, 2).total, 90_00)

    def test_wrapping_has_one_price_for_the_basket(self) -> None:
        self.assertEqual(basket_of(8_50, 3, gift_wrapped=True).wrapping, 3_00)
        self.assertEqual(basket_of(8_50, 3).wrapping, 0)

    def test_an_empty_basket_costs_nothing(self) -> None:
        self.assertEqual(Basket(()).total, 0)

    def test_money_is_shown_with_two_places(self) -> None:
        self.assertEqual([show_money(1205), show_money(-50)], ["12.05", "-0.50"])


class LimitTest(unittest.TestCase):
    """We are not a wholesaler: ten of one ware is the most."""

    def test_ten_is_allowed(self) -> None:
        check_quantity(10)

    def test_more_than_ten_is_refused(self) -> None:
        for quantity in (11, 12, 500):
            with self.assertRaisesRegex(QuantityRefused, "at most 10"):
                check_quantity(quantity)

    def test_less_than_one_is_refused(self) -> None:
        with self.assertRaises(QuantityRefused):
            check_quantity(0)

    def test_a_quantity_is_a_whole_number(self) -> None:
        self.assertEqual(read_quantity(" 3 "), 3)
        for text in ("", "three", "1.5", "-1"):
            with self.assertRaises(QuantityRefused):
                read_quantity(text)


class BasketPageTest(ShopTest):
    def test_a_ware_lands_in_the_basket(self) -> None:
        page = self.add("blue-mug", "3")
        self.assertIn("3 × Blue mug", page)
        self.assertIn("Total: 30.00", page)
        self.assertIn("Basket (3)", page)

    def test_the_same_ware_again_adds_up(self) -> None:
        self.add("blue-mug", "3")
        self.assertIn("5 × Blue mug", self.add("blue-mug", "2"))

    def test_wrapping_is_shown_when_wanted(self) -> None:
        self.add("blue-mug", "3")
        self.assertIn("Wrapping: 3.00", self.send("/basket/wrapping", gift_wrapped="on"))
        self.assertNotIn("Wrapping: 3.00", self.send("/basket/wrapping"))

    def test_a_ware_can_be_taken_out(self) -> None:
        self.add("blue-mug", "3")
        self.assertIn("Your basket is empty.", self.send("/basket/lines/blue-mug/remove"))

    def test_a_dozen_of_one_ware_is_not_sold(self) -> None:
        self.assertIn("Add to basket", self.page("/wares/blue-mug"))
        page = self.add("blue-mug", "12")
        self.assertIn("We sell at most 10 of one ware.", page)
        self.assertNotIn("12 × Blue mug", page)
        self.assertIn("Your basket is empty.", page)

    def test_the_limit_counts_what_lies_in_the_basket_already(self) -> None:
        self.add("blue-mug", "8")
        page = self.add("blue-mug", "4")
        self.assertIn("We sell at most 10 of one ware.", page)
        self.assertIn("8 × Blue mug", page)

    def test_an_unknown_ware_is_not_found(self) -> None:
        self.assertIn("We do not have that", self.add("piano", "1"))

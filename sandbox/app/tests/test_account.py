"""Signing in, the address, ordering."""

from tests.visitor import ShopTest


class AccountTest(ShopTest):
    def test_the_address_needs_a_signed_in_shopper(self) -> None:
        self.assertIn("<h1>Sign in</h1>", self.page("/account/address"))

    def test_a_wrong_password_is_refused(self) -> None:
        page = self.send("/account/sign-in", username="tess", password="a guess")
        self.assertIn("do not belong together", page)
        self.assertIn("<h1>Sign in</h1>", self.page("/account/address"))

    def test_signing_in_leads_to_the_address(self) -> None:
        self.assertIn("<h1>Your address</h1>", self.sign_in())

    def test_signing_in_leads_back_inside_the_shop_only(self) -> None:
        for then in ("//elsewhere", "/\\elsewhere", "elsewhere"):
            answer = self.visitor.post(
                "/account/sign-in",
                data={"username": "tess", "password": "only in tests", "then": then},
            )
            self.assertEqual(answer.location, "/account/address")

    def test_signing_out_ends_it(self) -> None:
        self.sign_in()
        self.send("/account/sign-out")
        self.assertIn("<h1>Sign in</h1>", self.page("/account/address"))

    def test_a_saved_address_is_shown_again(self) -> None:
        self.sign_in()
        page = self.send("/account/address", street="1 Low Road", city="Upton", phone="555-0123")
        self.assertIn("Address saved.", page)
        again = self.page("/account/address")
        for value in ("1 Low Road", "Upton", "555-0123"):
            self.assertIn(f'value="{value}"', again)


class OrderTest(ShopTest):
    def test_an_order_needs_a_signed_in_shopper(self) -> None:
        self.add("oak-board", "1")
        self.assertIn("<h1>Sign in</h1>", self.send("/basket/order"))

    def test_an_order_becomes_a_purchase_and_empties_the_basket(self) -> None:
        self.sign_in()
        self.add("oak-board", "2")
        page = self.send("/basket/order")
        self.assertIn("2 × Oak board", page)
        self.assertIn("48.50", page)
        self.assertIn("Your basket is empty.", self.page("/basket"))

    def test_an_empty_basket_cannot_be_ordered(self) -> None:
        self.sign_in()
        self.assertIn("Your basket is empty.", self.send("/basket/order"))

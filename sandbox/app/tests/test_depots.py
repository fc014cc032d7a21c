"""Delivery times from two depots, and being ready."""

import os
from unittest import mock

from shop.depots import take_turn
from tests.visitor import ShopTest


class DepotTest(ShopTest):
    def test_the_depots_take_turns(self) -> None:
        asked = [take_turn(self.connection) for _ in range(3)]
        self.assertEqual(asked, ["north", "south", "north"])

    def test_a_ware_shows_its_delivery_time(self) -> None:
        self.assertIn("Delivery: within 2 days", self.page("/wares/blue-mug"))


class ReadyTest(ShopTest):
    def test_ready_shows_which_start_it_is(self) -> None:
        with mock.patch.dict(os.environ, OUTLAST_NONCE="n-1", OUTLAST_REVISION="r-1"):
            shown = self.visitor.get("/ready").json
        self.assertEqual((shown["nonce"], shown["revision"]), ("n-1", "r-1"))

    def test_a_shop_without_wares_is_not_ready(self) -> None:
        self.connection.execute("DELETE FROM depot_day")
        self.connection.execute("DELETE FROM ware")
        self.connection.commit()
        self.assertEqual(self.visitor.get("/ready").status_code, 503)

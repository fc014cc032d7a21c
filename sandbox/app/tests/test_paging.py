"""Lists in pages."""

import unittest

from shop.paging import NoSuchPage, cut_page
from tests.visitor import ShopTest


class PagingTest(unittest.TestCase):
    def test_a_page_has_as_many_items_as_fit(self) -> None:
        self.assertEqual(list(cut_page(range(14), 1).items), [0, 1, 2, 3, 4, 5])

    def test_the_second_page_goes_on_where_the_first_ends(self) -> None:
        self.assertEqual(list(cut_page(range(14), 2).items), [6, 7, 8, 9, 10, 11])

    def test_the_last_page_has_the_rest(self) -> None:
        self.assertEqual(list(cut_page(range(14), 3).items), [12, 13])

    def test_a_short_list_is_one_page_without_neighbours(self) -> None:
        page = cut_page(range(6), 1)
        self.assertEqual((page.last, page.previous_number, page.next_number), (1, None, None))

    def test_an_empty_list_is_one_empty_page(self) -> None:
        self.assertEqual(list(cut_page([], 1).items), [])

    def test_the_first_page_of_many_leads_on(self) -> None:
        page = cut_page(range(14), 1)
        self.assertEqual((page.previous_number, page.next_number), (None, 2))

    def test_the_last_page_leads_back_only(self) -> None:
        page = cut_page(range(14), 3)
        self.assertEqual((page.previous_number, page.next_number), (2, None))

    def test_there_is_no_page_outside_the_list(self) -> None:
        for number in (0, 4):
            with self.assertRaises(NoSuchPage):
                cut_page(range(14), number)


class ShelfTest(ShopTest):
    def test_the_shelf_shows_six_wares_by_name(self) -> None:
        shelf = self.page("/wares")
        self.assertEqual(shelf.count('class="price"'), 6)
        self.assertLess(shelf.index("Birch bowl"), shelf.index("Felt slippers"))
        self.assertIn("Page 1 of 3", shelf)

    def test_the_last_page_of_the_shelf_has_no_next_page(self) -> None:
        shelf = self.page("/wares?page=3")
        self.assertIn("Walnut tray", shelf)
        self.assertNotIn("Next page", shelf)
        self.assertIn("Previous page", shelf)

    def test_a_search_finds_words_in_name_and_description(self) -> None:
        shelf = self.page("/wares?find=water+kettle")
        self.assertIn("Copper kettle", shelf)
        self.assertNotIn("Birch bowl", shelf)

    def test_a_search_without_a_find_says_so(self) -> None:
        self.assertIn("We have nothing like that.", self.page("/wares?find=piano"))

    def test_a_page_that_is_not_there_is_not_found(self) -> None:
        self.page("/wares?page=9", status=404)
        self.page("/wares?page=x", status=404)
        self.page("/wares/piano", status=404)

from tests.seeded import SeededCase
from workshop import catalogue
from workshop.catalogue import NoSuchPage, NoSuchTool, Search


class CatalogueTest(SeededCase):
    def names(self, search: Search, number: int = 1) -> list[str]:
        return [tool["name"] for tool in catalogue.find(self.db, search, number).tools]

    def test_the_first_page_has_eight_tools(self) -> None:
        page = catalogue.find(self.db, Search(), 1)
        self.assertEqual((len(page.tools), page.total, page.pages), (8, 24, 3))
        self.assertEqual(page.tools[0]["name"], "Angle grinder")

    def test_there_is_no_page_after_the_last(self) -> None:
        with self.assertRaises(NoSuchPage):
            catalogue.find(self.db, Search(), 4)

    def test_every_word_must_be_found(self) -> None:
        self.assertEqual(self.names(Search(words="cuts steel")), ["Angle grinder"])
        self.assertEqual(self.names(Search(words="cuts carpets")), [])

    def test_signs_of_the_database_are_plain_letters(self) -> None:
        self.assertEqual(self.names(Search(words="%")), ["Spray gun"])

    def test_stock_counts_what_is_here(self) -> None:
        drill = catalogue.tool_by_slug(self.db, "cordless-drill")
        self.assertEqual((drill["copies"], drill["lent"], drill["free"]), (3, 2, 1))
        with self.assertRaises(NoSuchTool):
            catalogue.tool_by_slug(self.db, "anvil")

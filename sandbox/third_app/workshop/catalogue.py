"""The catalogue: searching, sorting and paging through the tools."""

import sqlite3
from dataclasses import dataclass

PER_PAGE = 8
ORDERS = {
    "name": ("By name", "name"),
    "newest": ("Newest first", "bought_on DESC, name"),
    "fee": ("Cheapest first", "daily_fee, name"),
}


class NoSuchPage(Exception):
    """The catalogue is not that long."""


class NoSuchTool(Exception):
    """No tool has that name in the address."""


@dataclass(frozen=True)
class Search:
    """What a visitor looks for."""

    words: str = ""
    kind: str = ""
    only_free: bool = False
    order: str = "name"

    def conditions(self) -> tuple[str, list[str]]:
        """Return the WHERE clause and its values; every word must be found."""
        clauses, values = ["1"], []
        for word in self.words.split():
            clauses.append("(name LIKE ? ESCAPE '\\' OR description LIKE ? ESCAPE '\\')")
            values += [f"%{_literally(word)}%"] * 2
        if self.kind:
            clauses.append("kind = ?")
            values.append(self.kind)
        if self.only_free:
            clauses.append("free > 0")
        return " AND ".join(clauses), values

    def as_query(self) -> dict[str, str]:
        """Return the search as the address says it, without what is left at rest."""
        query = {
            "q": self.words,
            "kind": self.kind,
            "free": "yes" if self.only_free else "",
            "order": "" if self.order == "name" else self.order,
        }
        return {name: value for name, value in query.items() if value}


@dataclass(frozen=True)
class Page:
    """One page of what was found."""

    tools: list[sqlite3.Row]
    number: int
    total: int

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // PER_PAGE))

    @property
    def first(self) -> int:
        return (self.number - 1) * PER_PAGE + 1

    @property
    def last(self) -> int:
        return min(self.number * PER_PAGE, self.total)


def find(db: sqlite3.Connection, search: Search, number: int) -> Page:
    """Return a page of the tools that fit the search. Raises NoSuchPage."""
    where, values = search.conditions()
    total = db.execute(f"SELECT count(*) FROM stock WHERE {where}", values).fetchone()[0]
    _, order = ORDERS.get(search.order, ORDERS["name"])
    tools = db.execute(
        f"SELECT * FROM stock WHERE {where} ORDER BY {order} LIMIT ? OFFSET ?",
        [*values, PER_PAGE, (number - 1) * PER_PAGE],
    ).fetchall()
    page = Page(tools, number, total)
    if not 1 <= number <= page.pages:
        raise NoSuchPage(number)
    return page


def kinds(db: sqlite3.Connection) -> list[str]:
    return [row["kind"] for row in db.execute("SELECT DISTINCT kind FROM tools ORDER BY kind")]


def newest(db: sqlite3.Connection, count: int = 3) -> list[sqlite3.Row]:
    return db.execute(
        "SELECT * FROM stock ORDER BY bought_on DESC, name LIMIT ?", (count,)
    ).fetchall()


def tool_by_slug(db: sqlite3.Connection, slug: str) -> sqlite3.Row:
    """Return the tool with its stock. Raises NoSuchTool."""
    tool = db.execute("SELECT * FROM stock WHERE slug = ?", (slug,)).fetchone()
    if tool is None:
        raise NoSuchTool(slug)
    return tool


def _literally(word: str) -> str:
    """Take the meaning from LIKE's own signs."""
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")

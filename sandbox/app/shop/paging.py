"""Long lists are shown in pages, numbered from 1."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

PAGE_SIZE = 6


class NoSuchPage(LookupError):
    """The list is not that long."""


@dataclass(frozen=True)
class Page:
    items: Sequence[Any]
    number: int
    last: int

    @property
    def previous_number(self) -> int | None:
        return self.number - 1 if self.number > 1 else None

    @property
    def next_number(self) -> int | None:
        following = self.number + 1
        return following if following < self.last else None


def cut_page(items: Sequence[Any], number: int, size: int = PAGE_SIZE) -> Page:
    """Return one page of the list; an empty list has one empty page."""
    last = max(1, math.ceil(len(items) / size))
    if not 1 <= number <= last:
        raise NoSuchPage(f"page {number} of {last}")
    start = (number - 1) * size
    return Page(items[start : start + size], number, last)

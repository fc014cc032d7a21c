"""Pages as text: string.Template files, filled with escaped values."""

from html import escape
from pathlib import Path
from string import Template

VIEWS = Path(__file__).with_name("views")


class Markup(str):
    """Text that is HTML already and is not escaped again."""


def fill(view: str, **values: object) -> Markup:
    safe = {
        name: value if isinstance(value, Markup) else escape(str(value))
        for name, value in values.items()
    }
    return Markup(Template((VIEWS / f"{view}.html").read_text(encoding="utf-8")).substitute(safe))


def fill_each(view: str, rows: list[dict[str, object]]) -> Markup:
    return Markup("".join(fill(view, **row) for row in rows))


def whole_page(title: str, body: Markup) -> Markup:
    return fill("whole", title=title, body=body)


def francs(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"

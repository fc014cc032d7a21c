"""A page as a light client sees it: forms, fields by label, links, text. No script runs here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

SILENT = frozenset({"script", "style", "template", "head", "noscript"})
VOID = frozenset(
    {
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
    }
)
INLINE = frozenset(
    {"a", "abbr", "b", "bdi", "cite", "code", "em", "i", "kbd", "mark", "q", "s", "small"}
    | {"span", "strong", "sub", "sup", "time", "u", "var", "wbr"}
)
ROLE_TAGS = {
    "row": ("tr",),
    "listitem": ("li",),
    "heading": ("h1", "h2", "h3", "h4", "h5", "h6"),
    "link": ("a",),
    "button": ("button",),
    "img": ("img",),
}


@dataclass
class Element:
    """One element with what is in it."""

    tag: str
    attributes: dict[str, str]
    parent: Element | None = None
    children: list[Element | str] = field(default_factory=list)

    def text(self) -> str:
        """Return its visible text, white space folded."""
        return " ".join("".join(self._pieces()).split())

    def find(self, *tags: str) -> Iterator[Element]:
        """Yield everything below with one of these tags."""
        for child in self.children:
            if isinstance(child, Element):
                if child.tag in tags:
                    yield child
                yield from child.find(*tags)

    def above(self, *tags: str) -> Element | None:
        """Return the nearest enclosing element with one of these tags."""
        at = self.parent
        while at is not None and at.tag not in tags:
            at = at.parent
        return at

    def get(self, name: str) -> str:
        """Return an attribute, or nothing."""
        return self.attributes.get(name, "")

    def _pieces(self) -> Iterator[str]:
        if self.tag in SILENT or "hidden" in self.attributes:
            return
        for child in self.children:
            if isinstance(child, str):
                yield child
            else:
                yield from child._pieces()
                yield "" if child.tag in INLINE else " "


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element("root", {})
        self._at = self.root

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs}, self._at)
        self._at.children.append(element)
        if tag not in VOID:
            self._at = element

    def handle_endtag(self, tag: str) -> None:
        at: Element | None = self._at
        while at is not None and at.tag != tag:
            at = at.parent
        if at is not None and at.parent is not None:
            self._at = at.parent

    def handle_data(self, data: str) -> None:
        self._at.children.append(data)


class Page:
    """One loaded page and what was typed into it."""

    def __init__(self, url: str, status: int, body: str) -> None:
        self.url, self.status = url, status
        builder = _Builder()
        builder.feed(body)
        self.root = builder.root
        self.typed: dict[int, str] = {}
        self.set_on: dict[int, bool] = {}

    def text(self) -> str:
        """Return the visible text."""
        return self.root.text()

    def field(self, label: str) -> Element | None:
        """Return the field that a label names: exactly, else by a part of it."""
        fields = list(self.root.find("input", "textarea", "select"))
        for matches in (_is_equal, _is_part):
            for each in fields:
                if any(matches(label, name) for name in self._names(each)):
                    return each
        return None

    def control(self, name: str, role: str | None = None) -> Element | None:
        """Return the link or button of that name, exactly, else by a part of it."""
        tags = {"link": ("a",), "button": ("button", "input"), None: ("a", "button", "input")}
        wanted = tags.get(role, ())
        found = [each for each in self.root.find(*wanted) if _is_control(each)]
        for matches in (_is_equal, _is_part):
            for each in found:
                if any(matches(name, shown) for shown in _shown(each)):
                    return each
        return None

    def of_role(self, role: str, name: str | None) -> list[Element] | None:
        """Return elements of a role; None for a role that is not known here."""
        if role == "button":
            found = [e for e in self.root.find("button", "input") if _is_control(e)]
        elif role in ROLE_TAGS:
            found = list(self.root.find(*ROLE_TAGS[role]))
        else:
            return None
        if name is None:
            return found
        return [each for each in found if any(_is_part(name, shown) for shown in _shown(each))]

    def check(self, element: Element, on: bool) -> None:
        """Set a box on or off; of the radio buttons of one name only one is on."""
        if element.get("type").lower() == "radio":
            form = element.above("form") or self.root
            for each in form.find("input"):
                if each.get("type").lower() == "radio" and each.get("name") == element.get("name"):
                    self.set_on[id(each)] = False
        self.set_on[id(element)] = on

    def value(self, element: Element) -> str:
        """Return what a field holds now."""
        if id(element) in self.typed:
            return self.typed[id(element)]
        if element.tag == "textarea":
            return "".join(child for child in element.children if isinstance(child, str))
        if element.tag == "select":
            options = list(element.find("option"))
            chosen = [each for each in options if "selected" in each.attributes] or options[:1]
            return chosen[0].attributes.get("value", chosen[0].text()) if chosen else ""
        return element.get("value")

    def form_values(self, form: Element, pressed: Element | None) -> list[tuple[str, str]]:
        """Return what submitting the form sends."""
        pairs = []
        for each in form.find("input", "textarea", "select"):
            kind = each.get("type").lower()
            is_left_out = kind in ("submit", "button", "image", "reset", "file")
            if is_left_out or "disabled" in each.attributes or not each.get("name"):
                continue
            if kind in ("checkbox", "radio"):
                if self.set_on.get(id(each), "checked" in each.attributes):
                    pairs.append((each.get("name"), each.attributes.get("value", "on")))
                continue
            pairs.append((each.get("name"), self.value(each)))
        if pressed is not None and pressed.get("name"):
            pairs.append((pressed.get("name"), pressed.get("value")))
        return pairs

    def _names(self, element: Element) -> Iterator[str]:
        yield from (element.get("aria-label"), element.get("placeholder"))
        around = element.above("label")
        if around is not None:
            yield around.text()
        for label in self.root.find("label"):
            if element.get("id") and label.get("for") == element.get("id"):
                yield label.text()


def _is_control(element: Element) -> bool:
    if element.tag == "input":
        return element.get("type").lower() in ("submit", "button", "image")
    return element.tag != "a" or "href" in element.attributes


def _shown(element: Element) -> tuple[str, ...]:
    names = (element.get("aria-label"), element.text(), element.get("value"), element.get("alt"))
    return tuple(name for name in names if name)


def _is_equal(wanted: str, shown: str) -> bool:
    return bool(shown) and wanted.strip().lower() == shown.strip().lower()


def _is_part(wanted: str, shown: str) -> bool:
    return bool(shown) and wanted.strip().lower() in shown.lower()

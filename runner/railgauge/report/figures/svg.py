"""gnuplot's SVG made fit to stand in a page: named, described, with its colours, ids of its own."""

from __future__ import annotations

# gnuplot wrote the text just now, from our own script; no stranger's XML is read here.
from xml.etree import ElementTree

_SVG = "http://www.w3.org/2000/svg"
_HREF = "{http://www.w3.org/1999/xlink}href"
ElementTree.register_namespace("", _SVG)
ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")

# What is drawn on white paper and is to be seen on a dark page, too.
_PAGE_COLOURS = {
    "black": "var(--text)",
    "rgb(  0,   0,   0)": "var(--text)",
    "#ffffff": "var(--page)",
    "#FFFFFF": "var(--page)",
    "rgb(204, 204, 204)": "var(--line)",
    # The first curve's blue is dim on a dark page.
    "rgb(  0, 114, 178)": "var(--curve)",
}
_COLOURED = ("fill", "stroke", "color")


def inline(svg: str, name: str, title: str, description: str) -> str:
    """Return `svg` as an element for a page that may hold others.

    Its ids begin with `name`, so that no two figures share one; screen readers read `title` and
    `description`; its size, black, grey, white and first blue follow the page's (style.css).
    """
    root = ElementTree.fromstring(svg)  # noqa: S314 - see the import
    root.attrib.pop("width", None)
    root.attrib.pop("height", None)
    _drop_blanks(root)
    _drop_empty(root)
    _drop_unused(root)
    for element in root.iter():
        _recolour(element)
        _rename(element, name)
    for tag, text in (("desc", description), ("title", title)):
        old = root.find(f"{{{_SVG}}}{tag}")
        if old is not None:
            root.remove(old)
        new = ElementTree.Element(f"{{{_SVG}}}{tag}", {"id": f"{name}-{tag}"})
        new.text = text
        root.insert(0, new)
    root.set("role", "img")
    root.set("aria-labelledby", f"{name}-title {name}-desc")
    return ElementTree.tostring(root, encoding="unicode")


def _recolour(element: ElementTree.Element) -> None:
    for key in _COLOURED:
        colour = _PAGE_COLOURS.get(element.get(key, ""))
        if colour is not None:
            element.set(key, colour)


def _rename(element: ElementTree.Element, name: str) -> None:
    if "id" in element.attrib:
        element.set("id", f"{name}-{element.get('id')}")
    target = element.get(_HREF)
    if target is not None:
        element.set(_HREF, f"#{name}-{target.removeprefix('#')}")
    for key, value in element.attrib.items():
        if value.startswith("url(#"):
            element.set(key, value.replace("url(#", f"url(#{name}-", 1))


def _drop_blanks(root: ElementTree.Element) -> None:
    for element in root.iter():
        if element.tag != f"{{{_SVG}}}text" and not (element.text or "").strip():
            element.text = None
        if not (element.tail or "").strip():
            element.tail = None


def _drop_empty(element: ElementTree.Element) -> None:
    """Drop groups of nothing, which are most of what gnuplot writes."""
    for child in list(element):
        _drop_empty(child)
        if child.tag == f"{{{_SVG}}}g" and not len(child) and not child.text:
            element.remove(child)


def _drop_unused(root: ElementTree.Element) -> None:
    """Drop the shapes of points that no point has."""
    drawings = root.find(f".//{{{_SVG}}}defs")
    if drawings is None:
        return
    while True:
        used = {
            value.removeprefix("url(").removesuffix(")").removeprefix("#")
            for element in root.iter()
            for key, value in element.attrib.items()
            if key == _HREF or value.startswith("url(#")
        }
        unused = [drawing for drawing in drawings if drawing.get("id") not in used]
        if not unused:
            return
        for drawing in unused:
            drawings.remove(drawing)

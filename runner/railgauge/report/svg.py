"""gnuplot's SVG made fit to stand in a page: named, described, and with ids of its own."""

from __future__ import annotations

# gnuplot wrote the text just now, from our own script; no stranger's XML is read here.
from xml.etree import ElementTree

_SVG = "http://www.w3.org/2000/svg"
_HREF = "{http://www.w3.org/1999/xlink}href"
ElementTree.register_namespace("", _SVG)
ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")


def inline(svg: str, name: str, title: str, description: str) -> str:
    """Return `svg` as an element for a page that may hold others.

    Its ids begin with `name`, so that no two figures share one; screen readers read `title` and
    `description`; its size follows the page's.
    """
    root = ElementTree.fromstring(svg)  # noqa: S314 - see the import
    root.attrib.pop("width", None)
    root.attrib.pop("height", None)
    for element in root.iter():
        if "id" in element.attrib:
            element.set("id", f"{name}-{element.get('id')}")
        target = element.get(_HREF)
        if target is not None:
            element.set(_HREF, f"#{name}-{target.removeprefix('#')}")
        for key, value in element.attrib.items():
            if value.startswith("url(#"):
                element.set(key, value.replace("url(#", f"url(#{name}-", 1))
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

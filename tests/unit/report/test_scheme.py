"""The drawing of a test's path."""

from xml.etree import ElementTree

from railgauge.base.systemlog import PortLog
from railgauge.report.pages.scheme import scheme

PORTS = [
    PortLog(3, "switchB", "Eth1/3", {}),
    PortLog(1, "switchA", "17", {}),
    PortLog(2, "switchA", "18", {}),
]
DRAWN = """\
+-----+     +---------+     +---------+         +-----+
| gw1 |--17-| switchA |-18--| switchB |-Eth1/3--| hh1 |
+-----+     +---------+     +---------+         +-----+
"""


def test_hosts_and_devices_are_boxes_in_a_row_with_ports_between_them() -> None:
    assert scheme("gw1", "hh1", PORTS).text == DRAWN


def test_two_hosts_alone_are_two_boxes() -> None:
    assert scheme("a", "b", []).text.splitlines()[1] == "| a |----| b |"


def test_the_picture_is_xml_that_says_what_it_shows_whatever_the_names() -> None:
    root = ElementTree.fromstring(scheme('<gw "1">', "h&h", PORTS).svg)
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ['<gw "1">', "17", "switchA", "18", "switchB", "Eth1/3", "h&h"]
    assert root.get("aria-label") == (
        'Path: <gw "1">, port 17, switchA, port 18, switchB, port Eth1/3, h&h'
    )

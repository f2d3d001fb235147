"""Between which two counters the packets of a stream vanished."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from railgauge.base.systemlog import PortLog, SystemLog
from railgauge.plan.cases import Case
from railgauge.report.pages.path_losses import PathLoss, path_losses

_OTHERS = 30  # segments of the control channel, as both hosts count them


def _case(**parameters: int | bool) -> Case:
    return Case("0" * 16, "udp", "gw→hh", "gw", "hh", {"datagram": 1000, **parameters})


def _log(host: str, counts: Mapping[str, int]) -> SystemLog:
    return SystemLog(host, "replication", 0.0, 1.0, 100, counts, {})


def _gw(packets: int, **more: int) -> SystemLog:
    counts = {
        "interface/eth0/tx_packets": packets + _OTHERS,
        "interface/lo/tx_packets": 70,
        "protocol/Tcp/OutSegs": _OTHERS + 70,
        "protocol/Udp/OutDatagrams": 5000,
    }
    return _log("gw", counts | {f"protocol/Ip/{name}": count for name, count in more.items()})


def _hh(packets: int, arrived: int, dropped: int = 0, **more: int) -> SystemLog:
    counts = {
        "interface/eth1/rx_packets": packets + _OTHERS,
        "protocol/Tcp/InSegs": _OTHERS,
        "protocol/Udp/InDatagrams": arrived - dropped,
        "protocol/Udp/InErrors": dropped,
        "protocol/Udp/RcvbufErrors": dropped,
    }
    return _log("hh", counts | {f"protocol/Ip/{name}": count for name, count in more.items()})


def _ports(*packets: int | None, discards: int = 0) -> list[PortLog]:
    """Return A's two ports and B's, which have counted so many; the middle one has `discards`."""
    names = [("A", "17", "In"), ("A", "18", "Out"), ("B", "3", "Out")]
    ports = []
    for position, ((device, interface, way), count) in enumerate(
        zip(names, packets, strict=False), 1
    ):
        counts = {} if count is None else {f"ifHC{way}UcastPkts": count + _OTHERS}
        if position == 2:
            counts["ifOutDiscards"] = discards
        ports.append(PortLog(position, device, interface, counts))
    return ports


def _metrics(received: int, dropped: int = 0, sent: int = 5000) -> dict[str, float]:
    return {"sent_packets": sent, "received_packets": received, "receiver_drops": dropped}


def _loss(*logs: SystemLog, ports: list[PortLog], metrics: dict[str, float]) -> PathLoss:
    (loss,) = path_losses(_case(), logs, ports, metrics)
    return loss


def test_a_loss_is_placed_between_the_two_counters_that_differ() -> None:
    loss = _loss(
        _gw(5000),
        _hh(3796, 3796),
        ports=_ports(5000, 5000, 3796),
        metrics=_metrics(3796),
    )
    assert loss.sentences == ("1,204 of 5,000 packets vanished between A:18 (out) and B:3 (out).",)
    assert [station.place for station in loss.stations] == [
        "the socket on gw",
        "eth0 of gw",
        "A:17 (in)",
        "A:18 (out)",
        "B:3 (out)",
        "eth1 of hh",
        "the socket on hh",
        "the receiver on hh",
    ]
    assert (loss.sent, loss.lost, loss.per_datagram) == (5000, 1204, 1)
    assert loss.tolerance == _OTHERS + 10  # what is on lo is not on the path


@pytest.mark.parametrize(
    ("counts", "places"),
    [
        ((3000, 3000, 3000, 3000, 3000), "the socket on gw and eth0 of gw"),
        ((5000, 3000, 3000, 3000, 3000), "eth0 of gw and A:17 (in)"),
        ((5000, 5000, 3000, 3000, 3000), "A:17 (in) and A:18 (out)"),
        ((5000, 5000, 5000, 5000, 3000), "B:3 (out) and eth1 of hh"),
        ((5000, 5000, 5000, 5000, 5000), "eth1 of hh and the socket on hh"),
    ],
)
def test_a_loss_is_placed_anywhere_on_the_path(counts: tuple[int, ...], places: str) -> None:
    gw, a17, a18, b3, hh = counts
    loss = _loss(_gw(gw), _hh(hh, 3000), ports=_ports(a17, a18, b3), metrics=_metrics(3000))
    assert loss.sentences == (f"2,000 of 5,000 packets vanished between {places}.",)


def test_losses_in_two_places_are_both_told_the_larger_first() -> None:
    loss = _loss(_gw(5000), _hh(3000, 3000), ports=_ports(5000, 4500, 4500), metrics=_metrics(3000))
    assert loss.sentences == (
        "About 1,500 of 5,000 packets vanished between B:3 (out) and eth1 of hh.",
        "About 500 of 5,000 packets vanished between A:17 (in) and A:18 (out).",
    )


def test_copies_made_on_the_way_do_not_hide_how_many_datagrams_are_missing() -> None:
    # 1,000 vanish between A's ports, and then 500 are doubled.
    loss = _loss(
        _gw(5000),
        _hh(4500, 4500),
        ports=_ports(5000, 4000, 4500),
        metrics=_metrics(4000) | {"duplicate_packets": 500},
    )
    assert loss.lost == 1000
    assert loss.sentences == (
        "About 1,000 of 5,000 packets vanished between A:17 (in) and A:18 (out).",
        "500 copies of datagrams were made on the way, and counts that include them hide as many "
        "losses: 1,000 different datagrams are missing.",
    )
    assert not any(station.note for station in loss.stations)


def test_copies_are_not_taken_for_other_traffic() -> None:
    loss = _loss(
        _gw(5000),
        _hh(5000, 5000),
        ports=_ports(6000, 6000, 5000),
        metrics=_metrics(4000) | {"duplicate_packets": 1000},
    )
    assert not any(station.note for station in loss.stations)
    assert loss.sentences[0] == (
        "About 1,000 of 5,000 packets vanished between A:18 (out) and B:3 (out)."
    )


def test_discards_are_named_as_what_was_counted_there() -> None:
    ports = _ports(5000, 3796, 3796, discards=1204)
    loss = _loss(_gw(5000), _hh(3796, 3796), ports=ports, metrics=_metrics(3796))
    assert loss.sentences == (
        "1,204 of 5,000 packets vanished between A:17 (in) and A:18 (out) "
        "(A:18 (out) counted 1,204 ifOutDiscards).",
    )


def test_datagrams_dropped_at_the_socket_vanished_on_the_host() -> None:
    loss = _loss(
        _gw(5000), _hh(5000, 5000, 7), ports=_ports(5000, 5000, 5000), metrics=_metrics(4993, 7)
    )
    assert loss.sentences == (
        "7 of 5,000 datagrams reached hh and were dropped at the socket, whose receive buffer was "
        "full.",
    )


def test_where_the_socket_counts_several_datagrams_as_one_it_may_have_dropped_any_number() -> None:
    # The socket dropped 7 buffers: of how many datagrams nobody knows, and the engine says nothing.
    case, logs = _case(gro=True), [_gw(5000), _hh(5000, 4900, 7)]
    metrics = {name: n for name, n in _metrics(4000).items() if name != "receiver_drops"}
    (loss,) = path_losses(case, logs, [], metrics)
    assert loss.sentences == (
        "1,000 of 5,000 datagrams vanished: how many of them at the socket on hh can't be "
        "determined, as "
        "with gro it counts several datagrams as one.",
    )
    (arrived,) = (station for station in loss.stations if station.place == "the socket on hh")
    assert (arrived.packets, arrived.trouble) == (None, ())
    (whole,) = path_losses(case, logs, [], _metrics(5000))
    assert whole.sentences == ("All 5,000 datagrams arrived.",)


def test_drops_at_the_socket_that_are_not_known_are_not_taken_for_none() -> None:
    metrics = {"sent_packets": 5000.0, "received_packets": 4000.0}
    loss = _loss(_gw(5000), _hh(4500, 4500, 500), ports=[], metrics=metrics)
    assert loss.sentences == (
        "1,000 of 5,000 datagrams vanished: how many of them at the socket on hh can't be "
        "determined, as "
        "its drops are not known.",
    )


def test_nothing_is_blamed_for_less_than_the_other_traffic() -> None:
    ports = _ports(5000, 4962, 4962, discards=2)
    loss = _loss(_gw(5000), _hh(4962, 4962), ports=ports, metrics=_metrics(4962))
    assert loss.sentences == (
        "38 of 5,000 datagrams vanished: where is unknown, as the counts on their way may "
        "differ by 40 packets of other traffic (A:18 (out) counted 2 ifOutDiscards).",
    )


def test_counters_that_are_too_old_are_not_believed() -> None:
    loss = _loss(_gw(5000), _hh(4000, 4000), ports=_ports(100, 4000, 4000), metrics=_metrics(4000))
    assert loss.stations[2].note == (
        "has not counted all of 4,000 packets that arrived: old, or not on the path"
    )
    assert loss.sentences == ("1,000 of 5,000 packets vanished between eth0 of gw and A:18 (out).",)


def test_a_port_with_others_traffic_is_not_held_against_its_neighbours() -> None:
    loss = _loss(_gw(5000), _hh(4000, 4000), ports=_ports(9000, 4000, 4500), metrics=_metrics(4000))
    assert [station.note for station in loss.stations[2:5]] == [
        "has counted 4,030 packets of other traffic",
        *["contradicts its neighbour: one of the two is old, or has counted other traffic"] * 2,
    ]
    assert loss.sentences == ("1,000 of 5,000 packets vanished between eth0 of gw and eth1 of hh.",)


def test_a_port_that_was_not_read_is_passed_over() -> None:
    loss = _loss(_gw(5000), _hh(4000, 4000), ports=_ports(5000, None, 4000), metrics=_metrics(4000))
    assert (loss.stations[3].packets, loss.stations[3].note) == (None, "not known")
    assert loss.sentences == ("1,000 of 5,000 packets vanished between A:17 (in) and B:3 (out).",)


def test_two_hosts_alone_tell_the_network_from_the_hosts() -> None:
    loss = _loss(_gw(5000), _hh(4000, 4000), ports=[], metrics=_metrics(4000))
    assert loss.sentences == ("1,000 of 5,000 packets vanished between eth0 of gw and eth1 of hh.",)


def test_without_logs_only_the_socket_is_known_of() -> None:
    assert _loss(ports=[], metrics=_metrics(4000)).sentences == (
        "1,000 of 5,000 datagrams vanished: where is unknown, as nothing on their way was counted.",
    )
    assert _loss(ports=[], metrics=_metrics(5000)).sentences == ("All 5,000 datagrams arrived.",)


def test_datagrams_of_many_packets_are_lost_by_one_of_them() -> None:
    gw = _gw(5000 * 28, FragOKs=5000, FragCreates=5000 * 28)
    hh = _hh(5000 * 28 - 900, 4200, ReasmFails=800)
    loss = _loss(gw, hh, ports=[], metrics=_metrics(4200))
    assert loss.per_datagram == 28
    assert loss.sentences == (
        "About 900 of 140,000 IP packets vanished between eth0 of gw and eth1 of hh.",
        "So 800 of 5,000 datagrams, of 28 packets each, could not be put together again "
        "(hh counted 800 IP ReasmFails).",
    )


def test_datagrams_whose_packets_all_came_were_lost_putting_them_together() -> None:
    gw = _gw(5000 * 28, FragOKs=5000, FragCreates=5000 * 28)
    hh = _hh(5000 * 28, 3000, ReasmFails=9000)
    loss = _loss(gw, hh, ports=[], metrics=_metrics(3000))
    assert loss.sentences == (
        "2,000 of 5,000 datagrams, of 28 packets each, were not put together again on hh, although "
        "their packets were counted as far as eth1 of hh (hh counted 9,000 IP ReasmFails).",
    )


def test_datagrams_cut_unevenly_are_not_compared() -> None:
    gw = _gw(70_001, FragOKs=5000, FragCreates=70_001)
    loss = _loss(gw, _hh(60_000, 4000), ports=[], metrics=_metrics(4000))
    assert loss.per_datagram is None
    assert "their numbers of IP packets differ" in loss.sentences[0]


def test_datagrams_that_the_card_cuts_apart_are_not_compared() -> None:
    (loss,) = path_losses(_case(gso=8), [_gw(625), _hh(625, 4000)], [], _metrics(4000))
    assert "nothing on their way was counted" in loss.sentences[0]
    assert all("several datagrams as one" in station.note for station in loss.stations[1:3])


def test_a_stream_each_way_is_followed_each_way() -> None:
    back = {f"reverse_{name}": value for name, value in _metrics(4000, sent=4500).items()}
    ports = [
        PortLog(1, "A", "17", {"ifHCInUcastPkts": 5000, "ifHCOutUcastPkts": 4000}),
        PortLog(2, "A", "18", {"ifHCOutUcastPkts": 5000, "ifHCInUcastPkts": 4500}),
    ]
    losses = path_losses(_case(mode=0), [], ports, {**_metrics(5000), **back})
    assert [(loss.sender, loss.receiver) for loss in losses] == [("gw", "hh"), ("hh", "gw")]
    assert losses[0].sentences == ("All 5,000 datagrams arrived.",)
    assert losses[1].sentences == (
        "500 of 4,500 packets vanished between A:18 (in) and A:17 (out).",
    )


def test_ports_count_the_whole_control_channel() -> None:
    ports = [
        PortLog(1, "A", "17", {"ifHCInUcastPkts": 5060, "ifHCOutUcastPkts": 55}),
        PortLog(2, "A", "18", {"ifHCOutUcastPkts": 4060, "ifHCInUcastPkts": 55}),
    ]
    loss = _loss(_gw(5000), _hh(4000, 4000), ports=ports, metrics=_metrics(4000))
    assert loss.tolerance == 120
    assert [station.note for station in loss.stations] == [""] * len(loss.stations)
    assert loss.sentences == ("1,000 of 5,000 packets vanished between A:17 (in) and A:18 (out).",)


def test_ports_that_counted_the_warm_up_too_are_not_compared() -> None:
    logs = [_gw(5000), _hh(4000, 4000)]
    ports = _ports(10_000, 8000)
    (loss,) = path_losses(_case(warmup=1), logs, ports, _metrics(4000))
    assert [station.note for station in loss.stations[2:4]] == [
        "has counted the warm-up as well"
    ] * 2
    assert loss.sentences == ("1,000 of 5,000 packets vanished between eth0 of gw and eth1 of hh.",)


def test_cases_without_a_stream_have_no_losses() -> None:
    assert path_losses(_case(), [], [], {"rtt_mean": 1e-4, "lost_packets": 3}) == ()


def test_of_nothing_sent_nothing_is_said_to_have_arrived() -> None:
    metrics = {**_metrics(0), "sent_packets": 0.0}
    assert _loss(ports=[], metrics=metrics).sentences == ("No datagram was sent.",)

"""What railgauge takes from the user's ssh configuration."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from railgauge.base.errors import HostUnreachableError
from railgauge.hosts.transport.sshconfig import resolve


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home folder of our own with an empty ~/.ssh."""
    saved = {name: os.environ.pop(name, None) for name in ("HOME", "RAILGAUGE_SSH_CONFIG")}
    os.environ["HOME"] = str(tmp_path)
    (tmp_path / ".ssh").mkdir()
    yield tmp_path
    for name, value in saved.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value


@pytest.fixture
def config(home: Path) -> Callable[[str], None]:
    """Write ~/.ssh/config."""

    def write(text: str) -> None:
        (home / ".ssh/config").write_text(text)

    return write


@pytest.mark.parametrize(
    ("destination", "user", "hostname", "port"),
    [
        ("gw1", None, "gw1", 22),
        ("me@gw1", "me", "gw1", 22),
        ("me@gw1:2222", "me", "gw1", 2222),
        ("ssh://me@gw1:2222", "me", "gw1", 2222),
        ("ssh://gw1/", None, "gw1", 22),
        ("[fd00::1]:2222", None, "fd00::1", 2222),
        ("fd00::1", None, "fd00::1", 22),
        ("me@fd00::1", "me", "fd00::1", 22),
    ],
)
def test_destinations_are_written_as_for_ssh(
    home: Path, destination: str, user: str | None, hostname: str, port: int
) -> None:
    options = resolve(destination)
    assert (options.hostname, options.port) == (hostname, port)
    if user:
        assert options.user == user


@pytest.mark.parametrize("destination", ["", "gw1:", "gw1:ssh", "me@", "[fd00::1", "gw1:1:2]"])
def test_nonsense_is_refused(home: Path, destination: str) -> None:
    with pytest.raises(HostUnreachableError, match="no ssh destination"):
        resolve(destination)


@pytest.mark.parametrize("port", [0, 65536, 99999])
def test_a_port_that_is_none_is_told(home: Path, port: int) -> None:
    """65,536 too many would lead to another one, and 0 to the default."""
    with pytest.raises(HostUnreachableError, match=f"{port} is no port"):
        resolve(f"gw1:{port}")


def test_the_users_configuration_is_honoured(home: Path, config: Callable[[str], None]) -> None:
    config(
        "Host gw*\n  HostName %h.example.org\n  User alice\n  Port 2200\n  ConnectTimeout 3\n"
        "  IdentityFile ~/.ssh/cluster\n  IdentityFile ~/.ssh/other\n  IdentitiesOnly yes\n"
        "  UserKnownHostsFile ~/a %d/b\n  GlobalKnownHostsFile none\n  HostKeyAlias the-gw\n"
    )
    options = resolve("gw1")
    assert options.hostname == "gw1.example.org"
    assert (options.user, options.port, options.connect_timeout) == ("alice", 2200, 3.0)
    assert options.identity_files == (f"{home}/.ssh/cluster", f"{home}/.ssh/other")
    assert not options.other_identities
    assert options.known_hosts == (home / "a", home / "b")
    assert options.key_name == "the-gw"


def test_what_the_plan_says_wins_over_the_configuration(
    home: Path, config: Callable[[str], None]
) -> None:
    config("Host gw1\n  User alice\n  Port 2200\n")
    options = resolve("bob@gw1:22")
    assert (options.user, options.port) == ("bob", 22)


def test_known_hosts_stand_where_ssh_keeps_them(home: Path) -> None:
    assert resolve("gw1").known_hosts == (
        home / ".ssh/known_hosts",
        home / ".ssh/known_hosts2",
        Path("/etc/ssh/ssh_known_hosts"),
        Path("/etc/ssh/ssh_known_hosts2"),
    )


def test_jumps_come_in_their_order(home: Path, config: Callable[[str], None]) -> None:
    config("Host far\n  ProxyJump bob@one:2222, two\nHost near\n  ProxyJump none\n")
    assert resolve("far").jumps == ("bob@one:2222", "two")
    assert resolve("near").jumps == ()
    assert resolve("far", jumps=("other",)).jumps == ("other",)


def test_a_proxy_command_gets_its_tokens(home: Path, config: Callable[[str], None]) -> None:
    config("Host far\n  HostName 10.0.0.9\n  User me\n  ProxyCommand nc -X %% %h %p %r %n %z\n")
    assert resolve("far").proxy_command == "nc -X % 10.0.0.9 22 me far %z"


def test_includes_are_read_in_place(home: Path, config: Callable[[str], None]) -> None:
    (home / ".ssh/conf.d").mkdir()
    (home / ".ssh/conf.d/1").write_text("Host gw1\n  User first\n")
    (home / ".ssh/conf.d/2").write_text("Host gw*\n  User second\n  Port 2\n")
    config("Host gw2\n  User zeroth\n  Include conf.d/*\n  Port 3\nHost *\n  Port 4\n")
    assert (resolve("gw1").user, resolve("gw1").port) == ("first", 2)
    assert (resolve("gw2").user, resolve("gw2").port) == ("zeroth", 2)
    assert resolve("other").port == 4


def test_a_file_that_includes_itself_is_told(home: Path, config: Callable[[str], None]) -> None:
    config("Include config\n")
    with pytest.raises(HostUnreachableError, match="includes itself"):
        resolve("gw1")


@pytest.mark.parametrize(
    "text",
    [
        "Host gw1\n  Port ssh\n",
        "Host gw1\n  Port\n",
        "Host gw1\n  Port 65536\n",
        "Host gw1\n  UserKnownHostsFile ~no-such-user/known_hosts\n",
        "Include ~no-such-user/config\n",
    ],
)
def test_a_configuration_that_makes_no_sense_is_told(
    home: Path, config: Callable[[str], None], text: str
) -> None:
    config(text)
    with pytest.raises(HostUnreachableError, match=r"gw1: .*mend"):
        resolve("gw1")


def test_the_variable_names_the_only_file_read(
    home: Path, config: Callable[[str], None], tmp_path: Path
) -> None:
    config("Host gw1\n  User wrong\n  Port 1\n")
    (tmp_path / "chosen").write_text("Host gw1\n  User right\n")
    os.environ["RAILGAUGE_SSH_CONFIG"] = str(tmp_path / "chosen")
    assert (resolve("gw1").user, resolve("gw1").port) == ("right", 22)


@pytest.mark.parametrize(
    ("written", "seconds"), [("7", 7), ("0", None), ("2m", 120), ("1h1M5s", 3665)]
)
def test_how_often_to_ask_for_a_sign_of_life_is_read(
    config: Callable[[str], None], written: str, seconds: float | None
) -> None:
    config(f"Host gw1\nServerAliveInterval {written}\nConnectTimeout 1m30\n")
    assert resolve("gw1").alive_interval == seconds
    assert resolve("gw1").connect_timeout == 90
    assert resolve("gw2").alive_interval is None


def test_a_time_that_is_none_is_told(config: Callable[[str], None]) -> None:
    config("Host gw1\nServerAliveInterval often\n")
    with pytest.raises(HostUnreachableError, match="'often' is no time"):
        resolve("gw1")

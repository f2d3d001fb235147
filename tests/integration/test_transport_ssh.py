"""The ssh transport against real sshds in network namespaces."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias

import pytest
from paramiko.hostkeys import HostKeys
from tests.support.sshlab import PORT, Lab, Sshd, keygen

from railgauge.base.errors import EnvironmentFailedError, HostKeyError, HostUnreachableError
from railgauge.hosts.transport import interface, open_transport
from railgauge.hosts.transport.interface import run
from railgauge.hosts.transport.ssh import SshTransport
from railgauge.hosts.transport.sshconnect import SshConnection
from railgauge.hosts.transport.sshpool import TRIES
from railgauge.plan.model import Host

KEEPALIVE = 5.0
OpenSsh: TypeAlias = Callable[[str], SshTransport]
ProcessEnds: TypeAlias = Callable[[int], bool]


@pytest.fixture
def open_ssh(two_hosts: Lab) -> Iterator[OpenSsh]:
    """Make transports that are closed after the test."""
    opened: list[SshTransport] = []

    def make(destination: str) -> SshTransport:
        opened.append(SshTransport("node", destination, keepalive=KEEPALIVE))
        return opened[-1]

    yield make
    for transport in opened:
        transport.close()


@pytest.fixture
def node(open_ssh: OpenSsh) -> SshTransport:
    return open_ssh("host-a")


def public_key(lab: Lab) -> str:
    return " ".join(lab.a.host_key.with_suffix(".pub").read_text().split()[:2])


def another_sshd(lab: Lab, name: str, port: int, *lines: str, **environment: object) -> Sshd:
    """Start one more sshd on host A, which the ssh configuration knows by that name."""
    sshd = lab.a.sshd(port, *lines, **environment)
    lab.write_config(lab.entry(name, lab.a.control, port=port))
    lab.write_known_hosts(f"[{lab.a.control}]:{port} {public_key(lab)}")
    return sshd


def sessions(lab: Lab) -> int:
    """How often host A's sshd has let somebody in."""
    return lab.a.sshds[0].log.read_text().count("Accepted publickey")


def test_output_status_and_stderr_come_back(node: SshTransport) -> None:
    completed = run(node, ["sh", "-c", "echo one; printf two; echo bad >&2; exit 3"], timeout=60)
    assert (completed.stdout, completed.stderr, completed.status) == ("one\ntwo\n", "bad\n", 3)


def test_the_program_runs_in_the_hosts_namespace(node: SshTransport, two_hosts: Lab) -> None:
    addresses = run(node, ["ip", "-o", "addr"], timeout=60).stdout
    assert two_hosts.a.address in addresses
    assert two_hosts.a.address6 in addresses


ARGUMENTS = ("$HOME `id` $(id)", "it's", 'a "quoted" word', "back\\slash \\' \\0101", "two\nlines")
ARGUMENTS += ("*", "", "-n", "é", "!x !!", "end\n", "{a,b}", "~", "a=b", "# no comment", "%d", "\t")


@pytest.mark.parametrize("shell", ["sh", "bash", "zsh", "fish", "tcsh"])
def test_arguments_survive_every_login_shell(
    lab: Lab, open_ssh: OpenSsh, require: Callable[[object, str], None], shell: str
) -> None:
    require(shutil.which(shell), shell)
    another_sshd(lab, shell, 2240, f'ForceCommand exec {shell} -c "$SSH_ORIGINAL_COMMAND"')
    transport = open_ssh(shell)
    completed = run(transport, ["printf", "<%s>", *ARGUMENTS], timeout=60)
    assert completed.stdout == "".join(f"<{argument}>" for argument in ARGUMENTS) + "\n"
    transport.put({"x": b"hello"}, "~/by the shell")
    assert (lab.a.home / "by the shell/x").read_bytes() == b"hello"
    process = transport.start(["sleep", "100"])
    process.kill()
    assert process.wait(60).status == -9


def test_lines_come_as_they_are_written(node: SshTransport) -> None:
    process = node.start(["sh", "-c", "while read x; do echo got $x; done"])
    for word in ("a", "b"):
        process.send_line(word)
        assert process.read_line(60) == f"got {word}"
    with pytest.raises(TimeoutError):
        process.read_line(0.05)
    process.close_stdin()
    process.close_stdin()
    assert process.read_line(60) is None
    assert process.wait(60).status == 0
    process.send_line("too late")


def test_closing_stdin_ends_a_program_that_minds_it(
    node: SshTransport, process_ends: ProcessEnds
) -> None:
    process = node.start(["sh", "-c", "echo $$; exec cat"])
    pid = int(process.read_line(60) or "")
    process.close_stdin()
    assert process.wait(60).status == 0
    assert process_ends(pid)


def test_letting_go_of_the_host_ends_a_program_that_minds_its_stdin(
    node: SshTransport, process_ends: ProcessEnds
) -> None:
    process = node.start(["sh", "-c", "echo $$; exec cat"])
    pid = int(process.read_line(60) or "")
    node.close()
    assert process_ends(pid)


def test_letting_go_of_the_host_ends_a_run_that_another_thread_waits_for(
    node: SshTransport, process_ends: ProcessEnds, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    os.mkfifo(pid)
    script = 'sleep 60 & echo $! >"$1"; wait'
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run, node, ["sh", "-c", script, "sh", str(pid)], timeout=60)
        child = int(pid.read_text())
        node.close()
        assert running.result(60).status == -9
    assert process_ends(child)


def test_letting_go_of_the_host_lets_a_program_tidy_up(
    node: SshTransport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(interface.end.__kwdefaults__, "grace", 60.0)
    script = 'echo up; read x; echo tidy >"$1"'
    process = node.start(["sh", "-c", script, "sh", str(tmp_path / "state")])
    assert process.read_line(60) == "up"
    node.close()
    assert (tmp_path / "state").read_text() == "tidy\n"
    assert process.wait(60).status == 0


def test_letting_go_of_the_host_kills_what_minds_nothing(
    node: SshTransport, process_ends: ProcessEnds
) -> None:
    process = node.start(["sh", "-c", "echo $$; exec sleep 100"])
    pid = int(process.read_line(60) or "")
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(process.read_line)
        node.close()
        assert reading.result(60) is None
    assert process_ends(pid)
    assert process.wait(60).status == -9


def test_letting_go_ends_programs_though_the_server_gives_no_more_sessions(
    lab: Lab, open_ssh: OpenSsh, process_ends: ProcessEnds
) -> None:
    another_sshd(lab, "full", 2228, "MaxSessions 1")
    full = open_ssh("full")
    process = full.start(["sh", "-c", "echo $$; exec sleep 100"])
    pid = int(process.read_line(60) or "")
    full.close()
    assert process_ends(pid)


def test_a_host_let_go_of_starts_nothing_more(node: SshTransport) -> None:
    run(node, ["true"], timeout=60)
    node.close()
    node.close()
    with pytest.raises(HostUnreachableError, match="node: nothing more is started there"):
        node.start(["true"])


def test_letting_go_of_a_host_that_answers_nothing_ends_the_wait_for_it(
    lab: Lab, open_ssh: OpenSsh
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(2) as pool:
        port = server.getsockname()[1]
        lab.write_config(lab.entry("silent", "127.0.0.1", "ConnectTimeout 1000", port=port))
        silent = open_ssh("silent")
        reaching = [pool.submit(run, silent, ["true"], timeout=1000) for _ in range(2)]
        connection, _ = server.accept()
        with connection:
            silent.close()
            for future in reaching:
                with pytest.raises(HostUnreachableError, match="node: nothing more is started"):
                    future.result(60)


def test_letting_go_of_a_host_whose_link_is_down_ends_the_wait_for_its_program(lab: Lab) -> None:
    node = SshTransport("node", "host-a", keepalive=1000)
    process = node.start(["sh", "-c", "echo up; exec sleep 30"])
    assert process.read_line(60) == "up"
    lab.a.link("down")
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(process.read_line)
        node.close()
        assert reading.result(60) is None


def test_one_thread_reads_a_program_that_another_waits_for(node: SshTransport) -> None:
    script = "yes e | head -c 3000000 >&2; yes o | head -c 3000000"
    process = node.start(["sh", "-c", script])
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(process.wait, 60) for _ in range(2)]
        size = 0
        while (line := process.read_line(60)) is not None:
            size += len(line) + 1
        ends = [future.result() for future in waiting]
    assert size == 3_000_000
    assert [(end.status, end.stderr) for end in ends] == [(0, "e\n" * 32768)] * 2


def test_kill_ends_the_program_and_what_it_started(
    node: SshTransport, process_ends: ProcessEnds
) -> None:
    process = node.start(["sh", "-c", "echo $$; sleep 100 & echo $!; wait"])
    pids = [int(process.read_line(60) or "") for _ in range(2)]
    process.kill()
    process.kill()
    assert process.wait(60).status == -9
    assert all(process_ends(pid) for pid in pids)


def test_a_program_killed_by_a_signal_says_by_which(node: SshTransport) -> None:
    assert run(node, ["sh", "-c", "kill -TERM $$"], timeout=60).status == -15


def test_run_past_its_timeout_kills_and_says_so(
    node: SshTransport, process_ends: ProcessEnds
) -> None:
    with pytest.raises(TimeoutError, match=r"node: 'sleep' did not end within 0.2 s"):
        run(node, ["sleep", "98.7654"], timeout=0.2)
    listing = ["sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"]
    end = time.monotonic() + 60
    while "sleep 98.7654 " in run(node, listing, timeout=60).stdout:
        assert time.monotonic() < end


def test_a_missing_program_is_named(node: SshTransport) -> None:
    with pytest.raises(EnvironmentFailedError, match=r"node: can't start 'no-such-program'"):
        node.start(["no-such-program", "x"])


def test_floods_on_both_outputs_come_through(node: SshTransport) -> None:
    script = "yes e | head -c 6000000 >&2; yes o | head -c 6000000"
    completed = run(node, ["sh", "-c", script], timeout=60)
    assert completed.stdout == "o\n" * 3_000_000
    assert completed.stderr == "e\n" * 32768
    assert completed.status == 0


def test_waiting_alone_keeps_stderr_from_blocking(node: SshTransport) -> None:
    process = node.start(["sh", "-c", "yes e | head -c 6000000 >&2; exit 4"])
    ended = process.wait(60)
    assert (ended.status, ended.stderr) == (4, "e\n" * 32768)


def test_output_is_still_there_after_waiting(node: SshTransport) -> None:
    process = node.start(["sh", "-c", "echo early; echo late"])
    assert process.wait(60).status == 0
    assert [process.read_line(60) for _ in range(3)] == ["early", "late", None]


def test_files_arrive_byte_for_byte(node: SshTransport, two_hosts: Lab) -> None:
    target = two_hosts.a.folder / "put it here"
    files = {"Makefile": b"all:\n", "lib/deep/x.bin": bytes(range(256)) * 4000, "empty": b""}
    node.put(files, str(target))
    for name, content in files.items():
        assert (target / name).read_bytes() == content


def test_a_tilde_is_the_logins_home(node: SshTransport, two_hosts: Lab) -> None:
    node.put({"x": b"hello\n"}, "~/new/place")
    assert (two_hosts.a.home / "new/place/x").read_bytes() == b"hello\n"


def test_put_where_nothing_can_be_written_says_where(node: SshTransport) -> None:
    with pytest.raises(EnvironmentFailedError, match=r"node: can't write to /proc/nowhere"):
        node.put({"x": b""}, "/proc/nowhere")


def test_twenty_programs_at_once_share_a_connection(lab: Lab, open_ssh: OpenSsh) -> None:
    another_sshd(lab, "many", 2223, "MaxSessions 50")
    many = open_ssh("many")
    processes = [many.start(["cat"]) for _ in range(20)]
    with ThreadPoolExecutor(20) as pool:
        for number, process in enumerate(processes):
            process.send_line(str(number))
        answers = list(pool.map(lambda process: process.read_line(60), processes))
    assert answers == [str(number) for number in range(20)]
    assert lab.a.sshds[-1].log.read_text().count("Accepted publickey") == 1


def test_sessions_that_are_refused_at_one_time_are_refused_each(lab: Lab) -> None:
    """paramiko gives one of two threads the refusal of both, and the other none."""
    another_sshd(lab, "few", 2232, "MaxSessions 1")
    connection = SshConnection("few", "few", 60)
    try:
        only = connection.session()
        with ThreadPoolExecutor(20) as pool:
            sessions = list(pool.map(lambda _: connection.session(), range(200)))
        assert sessions == [None] * 200
        assert only is not None
        assert connection.alive
    finally:
        connection.close()


def test_more_programs_than_the_server_gives_sessions_still_run(
    node: SshTransport, two_hosts: Lab
) -> None:
    before = sessions(two_hosts)
    with ThreadPoolExecutor(20) as pool:  # MaxSessions is 10
        processes = list(pool.map(lambda _: node.start(["cat"]), range(20)))
    for process in processes:
        process.send_line("here")
    assert [process.read_line(60) for process in processes] == ["here"] * 20
    assert 2 <= sessions(two_hosts) - before <= 3


def test_programs_one_after_the_other_share_a_connection(
    node: SshTransport, two_hosts: Lab
) -> None:
    before = sessions(two_hosts)
    for _ in range(15):
        run(node, ["true"], timeout=60)
    assert sessions(two_hosts) - before == 1


def test_an_unknown_host_key_is_refused_with_advice(lab: Lab, open_ssh: OpenSsh) -> None:
    lab.known_hosts.write_text("")
    with pytest.raises(HostKeyError) as caught:
        open_ssh("host-a").start(["true"])
    message = str(caught.value)
    assert message.startswith(
        f"node: the ssh host key of [{lab.a.control}]:{PORT} (ssh-ed25519 SHA256:"
    )
    assert f"`ssh -F {lab.config} host-a`" in message
    assert f"`ssh-keyscan -p {PORT} {lab.a.control} >> {lab.known_hosts}`" in message
    assert lab.known_hosts.read_text() == ""


def test_a_user_who_would_accept_unknown_keys_is_still_refused(lab: Lab, open_ssh: OpenSsh) -> None:
    lab.write_config(lab.entry("lax", lab.a.control, "StrictHostKeyChecking no"))
    lab.known_hosts.write_text("")
    with pytest.raises(HostKeyError, match="unknown"):
        open_ssh("lax").start(["true"])


def test_a_changed_host_key_is_refused_with_its_line(lab: Lab, open_ssh: OpenSsh) -> None:
    keygen(lab.folder / "other_key")
    other = " ".join((lab.folder / "other_key.pub").read_text().split()[:2])
    lab.known_hosts.write_text(f"# ours\n[{lab.a.control}]:{PORT} {other}\n")
    with pytest.raises(HostKeyError) as caught:
        open_ssh("host-a").start(["true"])
    message = str(caught.value)
    assert f"is not the one in {lab.known_hosts}:2" in message
    assert f"ssh-keygen -R '[{lab.a.control}]:{PORT}' -f {lab.known_hosts}" in message


def test_a_revoked_host_key_is_refused(lab: Lab, open_ssh: OpenSsh) -> None:
    lab.write_known_hosts(f"@revoked * {public_key(lab)}")
    with pytest.raises(HostKeyError, match="is revoked in"):
        open_ssh("host-a").start(["true"])


@pytest.mark.parametrize("kind", ["hashed", "wildcard", "one of two", "alias", "without port"])
def test_a_known_key_is_found_however_it_is_written(lab: Lab, open_ssh: OpenSsh, kind: str) -> None:
    keygen(lab.folder / "second")
    second = " ".join((lab.folder / "second.pub").read_text().split()[:2])
    name, key = f"[{lab.a.control}]:{PORT}", public_key(lab)
    lab.known_hosts.write_text(
        {
            "hashed": f"{HostKeys.hash_host(name)} {key}\n",
            "wildcard": f"[10.*]:{PORT},!nobody {key}\n",
            "one of two": f"{name} {second}\n{name} {key}\n",
            "alias": f"the-alias {key}\n",
            "without port": f"{lab.a.control} {key}\n",
        }[kind]
    )
    if kind == "alias":
        lab.write_config(lab.entry("aliased", lab.a.control, "HostKeyAlias the-alias"))
    transport = open_ssh("aliased" if kind == "alias" else "host-a")
    assert run(transport, ["echo", "in"], timeout=60).stdout == "in\n"


def test_a_host_shows_the_kind_of_key_that_is_known(lab: Lab, open_ssh: OpenSsh) -> None:
    rsa = lab.folder / "rsa_key"
    keygen(rsa, kind="rsa")
    lab.a.sshd(2224, f"HostKey {rsa}")
    host_key = " ".join(rsa.with_suffix(".pub").read_text().split()[:2])
    lab.write_config(lab.entry("rsa", lab.a.control, port=2224))
    lab.write_known_hosts(f"[{lab.a.control}]:2224 {host_key}")
    assert run(open_ssh("rsa"), ["echo", "in"], timeout=60).stdout == "in\n"


def test_a_closed_port_is_told(lab: Lab, open_ssh: OpenSsh) -> None:
    lab.write_config(lab.entry("closed", lab.a.control, port=9))
    with pytest.raises(
        HostUnreachableError, match=rf"node: reaching root@{lab.a.control} port 9 .*refused"
    ):
        open_ssh("closed").start(["true"])


def test_a_host_that_answers_nothing_times_out(lab: Lab, open_ssh: OpenSsh) -> None:
    lab.write_config(lab.entry("silent", lab.a.control, "ConnectTimeout 1"))
    lab.a.link("down")
    with pytest.raises(HostUnreachableError, match=r"node: reaching .*(no answer|No route)"):
        open_ssh("silent").start(["true"])


def test_something_that_is_no_ssh_server_is_told(lab: Lab, open_ssh: OpenSsh) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        lab.write_config(lab.entry("web", "127.0.0.1", port=port))
        with ThreadPoolExecutor(1) as pool:

            def answer() -> None:
                for _ in range(TRIES):
                    connection, _ = server.accept()
                    with connection:
                        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

            answering = pool.submit(answer)
            with pytest.raises(HostUnreachableError, match=r"node: reaching .*127\.0\.0\.1"):
                open_ssh("web").start(["true"])
            answering.result()


def test_an_unknown_name_is_told(open_ssh: OpenSsh) -> None:
    with pytest.raises(HostUnreachableError, match=r"node: .*its name is unknown"):
        open_ssh("no-such-host.invalid").start(["true"])


def test_a_key_that_is_not_authorized_is_told(lab: Lab, open_ssh: OpenSsh) -> None:
    keygen(lab.folder / "stranger")
    entry = lab.entry("stranger", lab.a.control).replace("/user_key", "/stranger")
    lab.write_config(entry)
    with pytest.raises(HostUnreachableError, match=r"node: .*accepts none of our keys"):
        open_ssh("stranger").start(["true"])


@pytest.mark.parametrize(
    "content", [b"", b"no key\n", b"\xff\0", b"-----BEGIN RSA PRIVATE KEY-----\n"]
)
def test_an_identity_file_that_is_no_key_is_told(
    lab: Lab, open_ssh: OpenSsh, content: bytes
) -> None:
    (lab.folder / "garbage").write_bytes(content)
    lab.write_config(lab.entry("garbage", lab.a.control).replace("/user_key", "/garbage"))
    with pytest.raises(HostUnreachableError, match="node: reaching"):
        open_ssh("garbage").start(["true"])


def test_a_key_with_a_passphrase_is_told_and_nothing_asked(lab: Lab, open_ssh: OpenSsh) -> None:
    keygen(lab.folder / "locked", passphrase="secret")
    lab.write_config(lab.entry("locked", lab.a.control).replace("/user_key", "/locked"))
    with pytest.raises(HostUnreachableError, match="ssh-add"):
        open_ssh("locked").start(["true"])


@pytest.mark.parametrize("only", [False, True], ids=["any key", "IdentitiesOnly"])
def test_a_key_in_the_agent_is_used(lab: Lab, open_ssh: OpenSsh, agent: None, only: bool) -> None:
    # One file is locked, of the other just the public half is there; the agent has the key.
    for name in ("agent_key", "agent_key_half"):
        entry = lab.entry("agent", lab.a.control).replace("IdentityAgent none", "ForwardAgent no")
        entry = entry.replace("/user_key", f"/{name}")
        if not only:
            entry = entry.replace("IdentitiesOnly yes", "IdentitiesOnly no")
        lab.write_config(entry)
        assert run(open_ssh("agent"), ["echo", "in"], timeout=60).stdout == "in\n", name


@pytest.fixture
def agent(lab: Lab) -> Iterator[None]:
    """A real ssh-agent that holds the user's key; its files are of no use alone."""
    locked, socket_path = lab.folder / "agent_key", lab.folder / "agent.socket"
    before = os.environ.get("SSH_AUTH_SOCK")
    shutil.copy(lab.folder / "user_key", locked)
    for name in ("agent_key", "agent_key_half"):
        shutil.copy(lab.folder / "user_key.pub", lab.folder / f"{name}.pub")
    process = subprocess.Popen(
        ["ssh-agent", "-D", "-a", str(socket_path)], stdout=subprocess.DEVNULL
    )
    try:
        while not socket_path.exists():
            assert process.poll() is None
            time.sleep(0.01)
        os.environ["SSH_AUTH_SOCK"] = str(socket_path)
        subprocess.run(["ssh-add", "-q", str(locked)], check=True)
        encrypt = ["ssh-keygen", "-q", "-p", "-N", "secret", "-f", str(locked)]
        subprocess.run(encrypt, check=True, capture_output=True)
        yield
    finally:
        os.environ.pop("SSH_AUTH_SOCK", None)
        if before is not None:
            os.environ["SSH_AUTH_SOCK"] = before
        process.terminate()
        process.wait()


def test_a_jump_host_leads_to_a_host_behind_it(lab: Lab, open_ssh: OpenSsh) -> None:
    lab.write_config(lab.entry("behind", lab.b.address, "ProxyJump host-a"))
    transport = open_ssh("behind")
    assert lab.b.control in run(transport, ["ip", "-o", "addr"], timeout=60).stdout


def test_two_jumps_are_taken_in_their_order(lab: Lab, open_ssh: OpenSsh) -> None:
    # Only A reaches B's test address, and only B reaches A's from there.
    lab.write_config(
        lab.entry("b-inside", lab.b.address),
        lab.entry("a-inside", lab.a.address, "ProxyJump host-a,b-inside"),
    )
    transport = open_ssh("a-inside")
    assert lab.a.control in run(transport, ["ip", "-o", "addr"], timeout=60).stdout
    from_b = f"from {lab.b.address} "
    assert from_b in lab.a.sshds[0].log.read_text()


def test_a_jump_host_that_cannot_get_there_is_told(lab: Lab, open_ssh: OpenSsh) -> None:
    lab.write_config(lab.entry("behind", lab.b.address, "ProxyJump host-a", port=9))
    with pytest.raises(HostUnreachableError, match=r"node: .*from its jump host failed"):
        open_ssh("behind").start(["true"])


def test_a_loop_of_jump_hosts_is_told(lab: Lab, open_ssh: OpenSsh) -> None:
    lab.write_config(
        lab.entry("one", "10.255.255.1", "ProxyJump two"),
        lab.entry("two", "10.255.255.2", "ProxyJump one"),
    )
    with pytest.raises(HostUnreachableError, match="loop"):
        open_ssh("one").start(["true"])


def test_a_proxy_command_is_run_as_ssh_runs_it(lab: Lab, open_ssh: OpenSsh) -> None:
    through = f"ip netns exec {lab.a.namespace} ssh -F {lab.config} -W %h:%p host-b-pair"
    pair = lab.entry("host-b-pair", lab.b.address)
    lab.write_config(
        pair, lab.entry("proxied", lab.b.address, f"ProxyCommand {through} 2>/dev/null")
    )
    transport = open_ssh("proxied")
    assert lab.b.control in run(transport, ["ip", "-o", "addr"], timeout=60).stdout


def test_includes_are_read(lab: Lab, open_ssh: OpenSsh) -> None:
    (lab.folder / "more").mkdir(exist_ok=True)
    (lab.folder / "more/x.conf").write_text(lab.entry("included", lab.a.control))
    lab.config.write_text(f"Include {lab.folder}/more/*.conf\n")
    assert run(open_ssh("included"), ["echo", "in"], timeout=60).stdout == "in\n"


def test_a_chosen_configuration_that_is_not_there_is_told(lab: Lab, open_ssh: OpenSsh) -> None:
    lab.config.unlink()
    with pytest.raises(HostUnreachableError, match=r"there is no file .*RAILGAUGE_SSH_CONFIG"):
        open_ssh("host-a").start(["true"])


def test_what_the_login_shell_says_first_is_dropped(lab: Lab, open_ssh: OpenSsh) -> None:
    noise = lab.folder / "noise.sh"
    noise.write_text("echo Welcome to the cluster; printf 'no newline here'; echo oops >&2\n")
    another_sshd(lab, "noisy", 2225, f"Banner {noise}", BASH_ENV=noise)
    assert run(open_ssh("noisy"), ["echo", "in"], timeout=60).stdout == "in\n"


@pytest.mark.parametrize("answer", ["ready", "ready self", "ready -1", "ready 99999999999", ""])
def test_a_shell_that_does_not_say_its_process_group_is_an_error(
    lab: Lab, open_ssh: OpenSsh, answer: str
) -> None:
    """As one without /proc."""
    script = lab.folder / "answer.sh"
    mark = """printf %s "$SSH_ORIGINAL_COMMAND" | grep -o 'railgauge-[0-9a-f]*' | head -n 1"""
    script.write_text(f"echo $({mark}) {answer}; cat\n")
    another_sshd(lab, "strange", 2233, f"ForceCommand sh {script}")
    with pytest.raises(EnvironmentFailedError, match=r"node: can't start 'true': the shell there"):
        open_ssh("strange").start(["true"])


def test_an_account_without_a_shell_is_told(lab: Lab, open_ssh: OpenSsh) -> None:
    another_sshd(lab, "closed", 2226, "ForceCommand echo This account is not available >&2; exit 1")
    with pytest.raises(HostUnreachableError, match=r"node: .*This account is not available"):
        open_ssh("closed").start(["true"])


def test_a_host_dying_in_the_middle_is_noticed(lab: Lab, open_ssh: OpenSsh) -> None:
    sshd = another_sshd(lab, "mortal", 2227)
    mortal = open_ssh("mortal")
    process = mortal.start(["sh", "-c", "echo up; exec cat"])
    assert process.read_line(60) == "up"
    sshd.stop()
    with pytest.raises(HostUnreachableError, match=r"node: lost while a program was running"):
        process.read_line(60)
    with pytest.raises(HostUnreachableError, match=r"node: lost"):
        process.wait(60)
    process.kill()
    with pytest.raises(HostUnreachableError, match=r"node: reaching"):
        mortal.start(["true"])


@pytest.mark.parametrize("behind", [False, True], ids=["direct", "behind a jump host"])
def test_a_host_whose_link_goes_down_is_noticed(lab: Lab, open_ssh: OpenSsh, behind: bool) -> None:
    lab.write_config(lab.entry("far", lab.b.address, "ProxyJump host-a"))
    process = open_ssh("far" if behind else "host-a").start(["sh", "-c", "echo up; exec cat"])
    assert process.read_line(60) == "up"
    if behind:
        lab.b.test_link("down")
    else:
        lab.a.link("down")
    with pytest.raises(HostUnreachableError, match=f"no sign of life for {KEEPALIVE:g} s"):
        process.read_line(60)


def test_a_host_that_comes_back_is_reached_again(lab: Lab, open_ssh: OpenSsh) -> None:
    node = open_ssh("host-a")
    process = node.start(["cat"])
    lab.a.link("down")
    with pytest.raises(HostUnreachableError):
        process.read_line(60)
    lab.a.link("up")
    assert run(node, ["echo", "back"], timeout=60).stdout == "back\n"


def test_a_plans_ssh_entry_gives_an_ssh_transport(two_hosts: Lab) -> None:
    host = Host(address="::1", ssh=f"root@{two_hosts.b.control}:{PORT}")
    transport = open_transport("b", host)
    with pytest.raises(HostUnreachableError, match="b: "):
        # No Host block speaks of the bare address: no key, and nobody is asked for a password.
        transport.start(["true"])
    transport.close()

"""Shipping sources to a host and building them, with a tiny source tree and a real make."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from railgauge.base.errors import BuildError
from railgauge.engine.deploy import Bundle, bundle, deploy
from railgauge.engine.deploy_mpi import deploy_mpi
from railgauge.hosts.transport.interface import run
from railgauge.hosts.transport.local import LocalTransport

MAKEFILE = b"""BUILD = build
$(BUILD)/hello: hello.c lib/word.h
\tmkdir -p $(BUILD)
\tcc -o $@ hello.c
"""
HELLO = b'#include <stdio.h>\n#include "lib/word.h"\nint main(void) { puts(WORD); return 0; }\n'
TINY = Bundle.of(
    {"Makefile": MAKEFILE, "hello.c": HELLO, "lib/word.h": b'#define WORD "hello there"\n'}
)


@pytest.fixture
def local() -> LocalTransport:
    return LocalTransport("here")


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Path]:
    """A cache folder of our own, as a user would choose one."""
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(tmp_path / "a cache")
    yield tmp_path / "a cache" / "railgauge" / "engines"
    if before is None:
        del os.environ["XDG_CACHE_HOME"]
    else:
        os.environ["XDG_CACHE_HOME"] = before


@pytest.fixture
def path() -> Iterator[None]:
    """Puts PATH back after a test that changes it."""
    before = os.environ["PATH"]
    yield
    os.environ["PATH"] = before


def tools(folder: Path, *names: str) -> None:
    """Make a folder with nothing but these of the system's programs, and let PATH be just that."""
    folder.mkdir()
    for name in names:
        program = next(
            Path(place, name)
            for place in os.environ["PATH"].split(":")
            if Path(place, name).exists()
        )
        (folder / name).symlink_to(program)
    os.environ["PATH"] = str(folder)


BASICS = ("sh", "uname", "find", "rm", "mv", "mkdir", "sha256sum", "tar", "gzip")


def test_what_is_shipped_gets_built_and_runs(local: LocalTransport, cache: Path) -> None:
    folder = deploy(local, TINY)
    assert Path(folder).is_absolute()
    assert run(local, [f"{folder}/hello"], timeout=60).stdout == "hello there\n"


def test_the_folder_is_named_after_content_and_architecture(
    local: LocalTransport, cache: Path
) -> None:
    deploy(local, TINY)
    assert [entry.name for entry in cache.iterdir()] == [f"{TINY.digest}-{os.uname().machine}"]


def test_what_is_built_is_not_built_again(local: LocalTransport, cache: Path) -> None:
    folder = deploy(local, TINY)
    before = Path(folder, "hello").stat().st_ino
    assert deploy(local, TINY) == folder
    assert Path(folder, "hello").stat().st_ino == before


def test_other_content_goes_elsewhere(local: LocalTransport, cache: Path) -> None:
    other = Bundle.of({**TINY.files, "lib/word.h": b'#define WORD "bye"\n'})
    assert deploy(local, other) != deploy(local, TINY)
    assert run(local, [f"{deploy(local, other)}/hello"], timeout=60).stdout == "bye\n"


def test_the_digest_tells_names_and_contents_apart_but_not_order() -> None:
    assert Bundle.of({"a": b"1", "b": b"2"}).digest == Bundle.of({"b": b"2", "a": b"1"}).digest
    digests = {
        Bundle.of(files).digest
        for files in ({"a": b"bc"}, {"ab": b"c"}, {"a": b"b", "c": b""}, {"a": b"bC"})
    }
    assert len(digests) == 4


def test_two_deploys_at_once_both_end_well(local: LocalTransport, cache: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        folders = list(pool.map(lambda _: deploy(local, TINY), range(4)))
    assert len(set(folders)) == 1
    assert run(local, [f"{folders[0]}/hello"], timeout=60).stdout == "hello there\n"
    assert len(list(cache.iterdir())) == 1


def test_what_a_crash_left_half_built_is_not_used(local: LocalTransport, cache: Path) -> None:
    half = cache / f"{TINY.digest}-{os.uname().machine}"
    half.mkdir(parents=True)
    (half / "hello.c").write_text("half a fi")
    folder = deploy(local, TINY)
    assert run(local, [f"{folder}/hello"], timeout=60).stdout == "hello there\n"


@pytest.mark.parametrize("damaged", ["hello", "../hello.c", "../built"])
@pytest.mark.parametrize("lost", [True, False])
def test_what_was_lost_or_changed_in_the_cache_is_built_again(
    local: LocalTransport, cache: Path, damaged: str, lost: bool
) -> None:
    path = Path(deploy(local, TINY), damaged)
    path.unlink() if lost else path.write_text("#!/bin/sh\necho hello there\n")
    folder = Path(deploy(local, TINY))
    program = (folder / "hello").read_bytes()
    assert program.startswith(b"\x7fELF")
    assert run(local, [f"{folder}/hello"], timeout=60).stdout == "hello there\n"
    assert (folder / "../hello.c").read_bytes() == HELLO
    assert len(list(cache.iterdir())) == 1
    assert Path(deploy(local, TINY)) == folder
    assert (folder / "hello").read_bytes() == program


def test_old_remains_of_crashes_are_removed(local: LocalTransport, cache: Path) -> None:
    old, young = cache / "0123.old", cache / "0123.young"
    for remains in (old, young):
        remains.mkdir(parents=True)
    os.utime(old, (0, 0))
    deploy(local, TINY)
    assert not old.exists()
    assert young.exists()


def test_a_source_that_does_not_compile_shows_the_compilers_words(
    local: LocalTransport, cache: Path
) -> None:
    broken = Bundle.of({**TINY.files, "hello.c": b"int main(void) { return no_such_name; }\n"})
    with pytest.raises(BuildError, match="here: can't build the engines") as caught:
        deploy(local, broken)
    assert "no_such_name" in str(caught.value)
    assert list(cache.iterdir()) == []


def test_a_mere_warning_of_some_compiler_is_no_obstacle(local: LocalTransport, cache: Path) -> None:
    strict = b"WARNINGS := -Wall -Werror\n" + MAKEFILE.replace(b"cc -o", b"cc $(WARNINGS) -o")
    unused = HELLO.replace(b"{ puts", b"{ int unused; puts")
    folder = deploy(local, Bundle.of({**TINY.files, "Makefile": strict, "hello.c": unused}))
    assert run(local, [f"{folder}/hello"], timeout=60).stdout == "hello there\n"


@pytest.mark.usefixtures("path")
def test_a_missing_make_is_named(local: LocalTransport, cache: Path, tmp_path: Path) -> None:
    tools(tmp_path / "bin", *BASICS)
    with pytest.raises(BuildError, match=r"here: .*no make; install make"):
        deploy(local, TINY)
    assert list(cache.iterdir()) == []


@pytest.mark.usefixtures("path")
def test_a_missing_compiler_is_named(local: LocalTransport, cache: Path, tmp_path: Path) -> None:
    tools(tmp_path / "bin", *BASICS, "make")
    with pytest.raises(BuildError, match="install a C compiler") as caught:
        deploy(local, TINY)
    assert "cc" in str(caught.value)
    assert list(cache.iterdir()) == []


def test_an_unwritable_cache_is_named(local: LocalTransport, cache: Path) -> None:
    cache.parent.parent.mkdir()
    cache.parent.write_text("a file where a folder should be")
    with pytest.raises(BuildError, match=r"here: can't write to .*XDG_CACHE_HOME"):
        deploy(local, TINY)


def test_a_build_that_hangs_is_ended(
    local: LocalTransport, cache: Path, tmp_path: Path, process_ends: Callable[[int], bool]
) -> None:
    pid = tmp_path / "pid"
    slow = Bundle.of({"Makefile": f"all:\n\techo $$$$ > {pid}; exec sleep 100\n".encode()})
    for timeout in (1, 10, 60):
        with pytest.raises(BuildError, match=f"did not end within {timeout} s"):
            deploy(local, slow, timeout=timeout)
        if pid.exists():
            break
    assert process_ends(int(pid.read_text()))


def test_the_flags_of_a_make_above_do_not_reach_the_build(
    local: LocalTransport, cache: Path
) -> None:
    os.environ["MAKEFLAGS"] = "n"
    try:
        folder = deploy(local, TINY)
    finally:
        del os.environ["MAKEFLAGS"]
    assert Path(folder, "hello").stat().st_mode & stat.S_IXUSR


def test_the_bundle_holds_our_sources_and_nothing_built() -> None:
    names = set(bundle().files)
    assert {"Makefile", "udp.c", "tcp.c", "tools/exec.c", "lib/main.c"} <= names
    assert not {name for name in names if name.startswith(("external/", "build/"))}
    assert not {name for name in names if name.endswith((".o", ".d"))}


# n2 begins before n1 has built it, and goes on when that has.
_SLOW_MPI = """\
mpi:
\tmkdir -p $(BUILD)
\ttouch begun.$$(uname -n)
\tuntil [ -e begun.n2 ]; do sleep 0.01; done
\t[ $$(uname -n) = n1 ] || until ls | grep -qx "mpi-[0-9]*"; do sleep 0.01; done
\tcp /bin/true $(BUILD)/rail-mpi
"""
# As on machines of one image that were booted at one moment: what a shell runs has the same number.
_SAME_NUMBERS = (
    *("unshare", "--user", "--map-root-user", "--pid", "--fork", "--uts"),
    *("sh", "-c", 'hostname "$0" && exec "$@"'),
)


def test_hosts_with_one_home_that_build_mpi_at_once_dont_meet(
    tmp_path: Path, require: Callable[[object, str], None]
) -> None:
    hosts = {name: LocalTransport(name, (*_SAME_NUMBERS, name)) for name in ("n1", "n2")}
    numbers = {run(host, ["sh", "-c", "echo $$"], timeout=60).stdout for host in hosts.values()}
    require(numbers == {"1\n"}, "user namespaces")
    compiler = tmp_path / "mpi" / "bin" / "mpicc"
    build = tmp_path / "engines" / "build"
    for folder in (compiler.parent, build):
        folder.mkdir(parents=True)
    compiler.touch(0o755)
    (build.parent / "Makefile").write_text(_SLOW_MPI)

    def built(name: str) -> str:
        if name == "n2":
            while not (build.parent / "begun.n1").exists():
                time.sleep(0.01)
        return deploy_mpi(hosts[name], str(build), str(tmp_path / "mpi"), timeout=60).program

    with ThreadPoolExecutor() as pool:
        first, second = pool.map(built, hosts)
    assert first == second
    assert sorted(path.name for path in Path(first).parent.iterdir()) == [
        "built",
        "mpi.txt",
        "rail-mpi",
    ]
    Path(first).write_text("damaged")
    assert built("n1") == first
    assert Path(first).read_bytes() == Path("/bin/true").read_bytes()
    assert len(list(build.parent.glob("mpi-*"))) == 1


_TINY_MPI = """\
mpi:
\tmkdir -p $(BUILD)
\t$(MPICC) -show >$(BUILD)/rail-mpi
\tchmod +x $(BUILD)/rail-mpi
"""


def test_rail_mpi_is_built_with_the_mpi_that_is_there_now(
    local: LocalTransport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = tmp_path / "engines" / "build"
    build.mkdir(parents=True)
    (build.parent / "Makefile").write_text(_TINY_MPI)
    folders = [tmp_path / name / "bin" for name in ("new", "old")]
    monkeypatch.setenv("PATH", f"{folders[0]}:{folders[1]}:{os.environ['PATH']}")

    def install(folder: Path, version: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "mpicc").write_text(f"#!/bin/sh\necho {version}\n")
        (folder / "mpicc").chmod(0o755)

    def deployed(prefix: str | None = None) -> tuple[str, str]:
        installation = deploy_mpi(local, str(build), prefix)
        return Path(installation.program).read_text().strip(), installation.folder

    new, old = map(str, folders)
    install(folders[1], "4.1")
    assert deployed() == ("4.1", old)
    install(folders[0], "5.0")  # comes first in PATH
    assert deployed() == ("5.0", new)
    assert deployed(str(folders[1].parent)) == ("4.1", old)
    install(folders[0], "5.1")  # replaced where it stands
    assert deployed() == ("5.1", new)
    (folders[0] / "mpicc").unlink()
    assert deployed() == ("4.1", old)

"""HPL on two hosts: how xhpl is started and read, by a program that prints as it does."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support import command_line
from tests.support.boxes import Box, new_name, traces
from tests.support.results import select

# What HPL 2.3 does except computing: it reads HPL.dat by its lines, wants P x Q ranks, and rank 0
# prints the rate of 2/3 N^3 + 3/2 N^2 operations, here in a quarter of a second. It ends where all
# ranks are on one host.
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static int setting(int wanted)
{
    char line[256];
    FILE *file = fopen("HPL.dat", "r");
    if (file == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int number = 1; fgets(line, sizeof line, file) != NULL; number++) {
        if (number == wanted) {
            fclose(file);
            return atoi(line);
        }
    }
    MPI_Abort(MPI_COMM_WORLD, 1);
    return 0;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks = 0, one = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    /* Counted by the ranks themselves, over the network. */
    MPI_Allreduce(&one, &ranks, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    struct stat network;
    if (stat("/proc/self/ns/net", &network) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    unsigned long host = network.st_ino, least = 0, greatest = 0;
    MPI_Allreduce(&host, &least, 1, MPI_UNSIGNED_LONG, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&host, &greatest, 1, MPI_UNSIGNED_LONG, MPI_MAX, MPI_COMM_WORLD);
    if (least == greatest) {
        fprintf(stderr, "all ranks are on one host\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    int n = 0, nb = 0, p = 0, q = 0;
    if (rank == 0)
        n = setting(6), nb = setting(8), p = setting(11), q = setting(12);
    int needed = p * q;
    MPI_Bcast(&needed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (needed > ranks) {
        if (rank == 0)
            fprintf(stderr, "HPL ERROR from process # 0, on line 419 of function HPL_pdinfo:\n"
                    ">>> Need at least %d processes for these tests <<<\n\n"
                    "HPL ERROR from process # 0, on line 621 of function HPL_pdinfo:\n"
                    ">>> Illegal input in file HPL.dat. Exiting ... <<<\n\n", needed);
        MPI_Finalize();
        return 1;
    }
    if (rank == 0) {
        double seconds = 0.25, order = n;
        double rate = (2.0 / 3.0 * order * order * order + 1.5 * order * order) / seconds / 1e9;
        printf("T/V                N    NB     P     Q               Time                 Gflops\n"
               "--------------------------------------------------------------------------------\n"
               "WR11C2R4%12d %5d %5d %5d %18.2f %22.4e\n", n, nb, p, q, seconds, rate);
        printf("||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   3.51437800e-03 ...... %s\n",
               n == 13 ? "FAILED" : "PASSED");
    }
    return MPI_Finalize();
}
"""
PLAN = """\
railgauge: 1
name: linpack
hosts_file: {hosts}
tests:
  - name: hpl
    engine: hpl
    groups: [all]
    replications: 2
    set: {{n: {n}, nb: 32, p: 2, q: 2, ranks_per_host: {ranks_per_host}, threads: 3}}
"""


@pytest.fixture(scope="module")
def box(
    tmp_path_factory: pytest.TempPathFactory, require: Callable[[object, str], None]
) -> Iterator[Box]:
    require(os.geteuid() == 0 and shutil.which("ip"), "network namespaces need root and iproute2")
    require(shutil.which("mpicc"), "Open MPI (libopenmpi-dev)")
    testbed = Box(new_name(), tmp_path_factory.mktemp("box"))
    testbed.write("hosts: [a, b]\nlinks: [{between: [a, b]}]\n")
    try:
        testbed.up()
        yield testbed
    finally:
        testbed.down()
        assert traces(testbed.name) == []


@pytest.fixture(scope="module")
def path_with_xhpl(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PATH whose first folder has an xhpl."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "xhpl.c").write_text(PROGRAM)
    subprocess.run(["mpicc", "-o", folder / "xhpl", folder / "xhpl.c"], check=True)
    return f"{folder}:{os.environ['PATH']}"


def run(box: Box, folder: Path, path: str, text: str) -> subprocess.CompletedProcess[str]:
    (folder / "plan.yaml").write_text(text)
    return command_line.railgauge("run", "plan.yaml", cwd=folder, env={**os.environ, "PATH": path})


def test_hpl_runs_on_the_ranks_of_two_hosts_and_its_line_is_read(
    box: Box, tmp_path: Path, path_with_xhpl: str
) -> None:
    completed = run(
        box, tmp_path, path_with_xhpl, PLAN.format(hosts=box.hosts_file, n=300, ranks_per_host=2)
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr
    values = "SELECT value FROM measurement WHERE metric = '{}'"
    operations = 2 / 3 * 300**3 + 3 / 2 * 300**2
    rates = select(tmp_path, values.format("operation_rate"))
    assert rates == [(pytest.approx(operations / 0.25, rel=1e-4),)] * 2
    assert select(tmp_path, values.format("solve_time")) == [(0.25,)] * 2
    assert select(tmp_path, "SELECT DISTINCT engine, link FROM measurement") == [("hpl", "all")]


@pytest.mark.parametrize(
    ("n", "ranks_per_host", "words"),
    [
        (300, 1, "Need at least 4 processes for these tests"),
        (13, 2, "FAILED"),
    ],
    ids=["too few ranks", "a wrong residual"],
)
def test_hpl_that_did_not_compute_what_was_asked_is_a_failure_with_its_cause(
    box: Box, tmp_path: Path, path_with_xhpl: str, n: int, ranks_per_host: int, words: str
) -> None:
    completed = run(
        box,
        tmp_path,
        path_with_xhpl,
        PLAN.format(hosts=box.hosts_file, n=n, ranks_per_host=ranks_per_host),
    )
    assert completed.returncode == 1, completed.stdout + completed.stderr
    assert words in completed.stderr
    assert select(tmp_path, "SELECT DISTINCT status FROM measurement") == [("failed",)]

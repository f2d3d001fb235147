"""Whoever makes everything again, from a copy of the database, gets the same bytes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from tests.support.published_samples import fill, publish, railgauge

from railgauge.report.figures.gnuplot import find_gnuplot


def test_another_place_time_user_and_copy_give_the_same_bytes(
    tmp_path: Path, require: Callable[[object, str], None]
) -> None:
    require(find_gnuplot(), "gnuplot")
    database = tmp_path / "here.db"
    fill(database)
    database_copy = tmp_path / "elsewhere äöü %s 'q'" / "there.db"
    database_copy.parent.mkdir()
    railgauge([["db", "copy", database, database_copy]], tmp_path)
    # The same rows on other pages, in another order.
    connection = sqlite3.connect(database_copy)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("PRAGMA page_size = 512")
    connection.execute("VACUUM")
    assert connection.execute("PRAGMA page_size").fetchone() == (512,)
    connection.close()

    first = publish(
        database,
        tmp_path / "first",
        environment={
            "TZ": "UTC",
            "LC_ALL": "C.UTF-8",
            "PYTHONHASHSEED": "1",
            "COLUMNS": "80",
            "USER": "an",
        },
        umask=0o022,
    )
    home = tmp_path / "another home"
    home.mkdir()
    second = publish(
        database_copy,
        database_copy.parent / "a deeper" / "folder",
        environment={
            "TZ": "Pacific/Apia",
            "LC_ALL": "C",
            "LANG": "de_DE.UTF-8",
            "PYTHONHASHSEED": "4711",
            "COLUMNS": "200",
            "USER": "root",
            "LOGNAME": "nobody",
            "HOME": str(home),
            "TMPDIR": str(home),
            "HOSTNAME": "elsewhere",
            "SOURCE_DATE_EPOCH": "86400",
        },
        umask=0o077,
    )
    assert list(first) == list(second)
    assert [name for name, content in first.items() if content != second[name]] == []
    # No form of them is missing here.
    endings = {name.rpartition(".")[2] for name in first}
    assert {"html", "tex", "csv", "txt", "svg", "plot", "dat", "json", "parquet", "md"} <= endings

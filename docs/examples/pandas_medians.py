"""A run's medians by pandas, from the database itself.

python pandas_medians.py railgauge.db RUN [METRIC [PARAMETER]]
"""

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pandas as pd

QUERY = "SELECT * FROM measurement WHERE run = ? AND metric = ? ORDER BY test, link, parameters"


def measurements(database: str, run: int, metric: str = "throughput") -> pd.DataFrame:
    """Return a run's rows of the public view, with a column `set.NAME` for each parameter."""
    # Read-only: a reader is never in the way of a run that is going on.
    uri = Path(database).absolute().as_uri() + "?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        rows = pd.read_sql_query(QUERY, connection, params=(run, metric))
    rows["started_at"] = pd.to_datetime(rows["started_at"], utc=True)
    # A case's parameters stand in each of its rows: each text is read once.
    parsed = {text: json.loads(text) for text in rows["parameters"].unique()}
    parameters = pd.DataFrame(
        [parsed[text] for text in rows["parameters"]], index=rows.index, dtype=object
    )
    return pd.concat([rows.drop(columns="parameters"), parameters.add_prefix("set.")], axis=1)


def medians(rows: pd.DataFrame, across: str) -> pd.DataFrame:
    """Return each case's median: a column for each value of the parameter `across`.

    What else differs between cases stands in the rows, so that no median is of several cases.
    """
    parameters = [name for name in rows.columns if name.startswith("set.")]
    differ = [name for name in parameters if rows[name].nunique(dropna=False) > 1]
    # An engine that lacks a parameter is no reason to drop its cases.
    filled = rows.copy()
    filled[differ] = rows[differ].where(rows[differ].notna(), "—")
    index = ["test", "link", "unit", *(name for name in differ if name != f"set.{across}")]
    return filled.pivot_table(
        index=index, columns=f"set.{across}", values="value", aggfunc="median", sort=False
    )


if __name__ == "__main__":
    database, run, *words = sys.argv[1:]
    metric, across = [*words, *("throughput", "datagram")[len(words) :]]
    values = measurements(database, int(run), metric)
    if f"set.{across}" not in values:
        sys.exit(f"run {run} has no {metric} with a parameter {across}")
    print(f"{len(values)} values, {(values['status'] == 'suspect').sum()} of them suspect")
    print(medians(values, across).to_string())

"""Each case's median by DuckDB, from a file of `railgauge export parquet`.

python duckdb_medians.py measurements.parquet [METRIC]
"""

import sys

import duckdb

# By case_key, which stands for all the parameters: whoever groups by one of them only, puts
# together what was measured with different others.
QUERY = """
SELECT run, test, link,
       CAST(parameters->>'$.datagram' AS BIGINT) AS datagram,
       median(value) AS median,
       quantile_cont(value, 0.75) - quantile_cont(value, 0.25) AS quartiles_apart,
       unit,
       count(*) AS n,
       count(*) FILTER (WHERE status = 'suspect') AS suspect,
       case_key
FROM read_parquet($file)
WHERE metric = $metric
GROUP BY run, test, link, case_key, parameters, unit
ORDER BY run, test, link, datagram, case_key
"""


def medians(file: str, metric: str = "throughput") -> duckdb.DuckDBPyRelation:
    """Return a row for each case of each run."""
    return duckdb.sql(QUERY, params={"file": file, "metric": metric})


if __name__ == "__main__":
    medians(*sys.argv[1:]).show(max_rows=1000)

"""`python -m railgauge` is the command line."""

from railgauge.cli import main

main()

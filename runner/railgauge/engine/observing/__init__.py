"""What watches a launch: each host's kernel counters, soakers, switches; and what they make of it.

An engine measures as if nobody watched. Here each of its replications gets its system logs, the
metrics that come of them, and the reasons not to trust it.
"""

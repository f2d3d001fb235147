"""Whether a replication can be trusted: what the system logs say against it."""

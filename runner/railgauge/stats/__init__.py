"""Numbers in, numbers out: what replications say. Nothing here reads, stores or prints."""

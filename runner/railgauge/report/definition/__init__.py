"""Report definitions: what is asked for, and every mistake in it with its place."""

"""What a host could do at most: what its owner declares, else what its facts give."""

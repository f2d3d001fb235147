"""The watchers on the hosts: rail-watch's counters, read around each replication."""

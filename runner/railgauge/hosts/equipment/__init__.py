"""Switches and routers on a link's path: their counters around each replication, by SNMP."""

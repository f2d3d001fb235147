"""Around a run: the doctor, which looks at hosts, and testbeds, which stand in for them."""

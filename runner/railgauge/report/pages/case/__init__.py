"""A page for each case: what both hosts' kernels counted while its replications were measured."""

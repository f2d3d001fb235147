"""A page for each case: what both hosts' kernels counted while its replications were measured."""

# By default so many cases of a run have one.
MOST_PAGES = 200

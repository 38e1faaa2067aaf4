"""Anything that a component, a cluster or a client can write: no exception leaves the edge where it
comes in, and no other job is touched.

`make fuzz CASES=100000` spreads so many cases over all properties, each time others;
`make test` plays a small share, always the same.
"""

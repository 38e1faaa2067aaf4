"""The HTTP address: /metrics for Prometheus, and at / a page for people to look at.

`server` listens; `scrape` answers Prometheus; `page` has the page's files and its stream of events,
which `feed` makes once for all who look, of what `data` makes of the daemon's overview. Whoever
looks at it changes nothing, and no cluster is asked anything for it.
"""

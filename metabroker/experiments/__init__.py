"""The papers' figures and claims, reproduced: one module per paper (contract C5).

`registry` knows all experiments and claims by name. An experiment (`experiment`) is plain data: the
trials that it needs at a `scale`, and how their outcomes become a figure and a table. A
`results` plays trials, each only once, wherever they are spread. `evidence` decides comparisons
by paired intervals, `claims` the papers' claims; `figures` and `tables` write what was found.

To add a paper: write a module with `experiments()` and `checks()` and name it in
`registry.PAPERS`; `bucur_epema_2003` is an example.
"""

"""Tests of the pure core: the state table, the saga as golden scenarios, ledger, restore."""

"""Tests of the policies: worked examples, a slow reference, exact identities."""

"""Tests of the OpenPBS adapter, from what real servers printed."""

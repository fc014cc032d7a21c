"""Environments: built from recovery inputs, run in a sandbox of their own, proved each time."""

"""Workspaces that can be lost: restored from a base revision and a patch, anywhere, each time."""

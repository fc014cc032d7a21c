"""Brings here what Outlast needs besides Python packages: `python -m sandbox.setup`."""

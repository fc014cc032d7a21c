"""The embedded outside: PostgreSQL, a GitHub-compatible host, the sample application."""

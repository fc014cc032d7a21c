"""The only SQL. Functions take a connection and never commit."""

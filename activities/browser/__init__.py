"""The browser: a procedure is played on a live page, and what was seen is kept as evidence."""

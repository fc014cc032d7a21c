"""GitHub and what speaks its dialect: one mutation a file, perform and observe side by side."""

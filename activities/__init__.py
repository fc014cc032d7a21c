"""Work that can fail: one receiver a file, perform and observe side by side."""

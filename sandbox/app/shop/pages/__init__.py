"""What visitors see, one module for each part of the shop."""

"""The durable core of Outlast. Imports no other folder of the project."""

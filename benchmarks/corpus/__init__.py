"""A seeded corpus of faulty applications, made by a mutator that is not the repairer."""

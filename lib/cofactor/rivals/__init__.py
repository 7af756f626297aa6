"""What the papers compare with, by line: whoever reads the papers' methods needs none of it."""

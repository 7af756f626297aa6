"""HTML pages that need no other file: results beside published numbers, and the report on one crowd."""

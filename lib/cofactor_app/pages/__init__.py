"""HTML pages that need no other file: results beside published numbers, and reports of verbs."""

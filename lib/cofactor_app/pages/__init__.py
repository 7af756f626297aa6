"""Self-contained HTML pages: reports of verbs, and results beside published numbers."""

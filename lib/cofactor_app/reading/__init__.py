"""Orders of items, and images of ENVI."""

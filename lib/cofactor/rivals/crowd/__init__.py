"""The crowd methods that the paper compares with, one file per family."""

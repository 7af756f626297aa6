"""Other ways to a joint PMF, which the paper compares with, one file per family."""

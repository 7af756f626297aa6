"""What factorised comparisons are compared with: rankings that all users share, BPR, AltSVM, the convex relaxation."""

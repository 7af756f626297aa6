"""Pictures that pages and notebooks share."""

"""Other finders of anchors and topics, which the paper compares with, one file per family."""

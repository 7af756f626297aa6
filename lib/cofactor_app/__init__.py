"""What a practitioner types and clicks: commands and reports.

`cofactor` knows nothing of it.
"""

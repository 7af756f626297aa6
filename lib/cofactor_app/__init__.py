"""What a practitioner types and clicks: commands, reports, pages, shards.

`cofactor` knows nothing of it.
"""

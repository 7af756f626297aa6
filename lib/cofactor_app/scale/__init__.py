"""Labels beyond memory: sorted into shards on disk, read by threads, or summed up by a database."""

"""Labels beyond memory: sorted into shards on disk, read by threads or a cluster, or summed up by a database."""

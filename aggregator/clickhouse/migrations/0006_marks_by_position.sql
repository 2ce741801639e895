-- Whose usage was touched after some position of the log is asked once a minute: what lies before it is passed over by granules.
ALTER TABLE usage_bucket_marks ADD INDEX IF NOT EXISTS by_position (log_partition, log_seq) TYPE minmax GRANULARITY 1;
ALTER TABLE usage_bucket_marks MATERIALIZE INDEX by_position SETTINGS mutations_sync = 2;

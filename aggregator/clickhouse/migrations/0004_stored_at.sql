-- When the newest version of a row was stored: the event, or its deletion. MATERIALIZED, so that it is no part of what is
-- inserted or copied. Rows from before are given the epoch, which says that it is not known; only then does the column count
-- time. (A run that is killed before this file is recorded gives them the time of the next run.)
ALTER TABLE usage_events ADD COLUMN IF NOT EXISTS stored_at DateTime64(3, 'UTC') MATERIALIZED toDateTime64(0, 3, 'UTC');
ALTER TABLE usage_events MATERIALIZE COLUMN stored_at SETTINGS mutations_sync = 2;
ALTER TABLE usage_events MODIFY COLUMN stored_at DateTime64(3, 'UTC') MATERIALIZED now64(3, 'UTC');

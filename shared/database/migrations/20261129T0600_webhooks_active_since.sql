-- Since when a webhook is there, and since when it is active. A change gets its position only after its commit, so the positions alone do
-- not tell what was committed before. These do: no higher seq than was there then, and visible to the snapshot of then. Both are null
-- where nothing waited for its position, and for webhooks of before.
alter table webhook_queues
  add column first_seq bigint,
  add column first_snapshot pg_snapshot,
  add column active_seq bigint,
  add column active_snapshot pg_snapshot;

-- The worker deletes changes that every consumer has passed, oldest first (api/workers/outbox-retention.ts).
call allow_system('outbox', 'millrace_worker', array['delete']);
create index outbox_relayed_age on outbox (created_at) where position is not null;

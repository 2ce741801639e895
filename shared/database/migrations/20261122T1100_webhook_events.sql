-- The log of events as a tenant reads it (GET /v1/webhook-events): the outbox in its order, with what became of each delivery.

-- More about some events than the resource itself holds, such as what caused them (contract: Webhook delivery payload).
alter table outbox add column metadata jsonb;
-- Where a range of times begins in the order of positions.
create index outbox_of_time on outbox (platform_id, environment, created_at) where position is not null;

-- Where the queue of a webhook began: events before it are not of the webhook. 0 for webhooks of before.
alter table webhook_queues add column first_position bigint not null default 0;

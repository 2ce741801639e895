-- Whose lease it is: the fence with which the queue was taken. A replay that begins or ends raises the fence and leaves the lease to
-- the delivery under way, which gives it back when it ends.
alter table webhook_queues add column lease_fence bigint not null default 0;

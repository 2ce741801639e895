-- Replays: the events of a webhook sent again from an earlier one on. A replay sets the one queue of its webhook back, so order holds.
create table webhook_replays (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  webhook_id text not null,
  from_position bigint not null, -- of the outbox: everything after it, up to `to_position`
  to_position bigint not null,
  resume_position bigint not null, -- how far the queue had come before
  scope text not null check (scope in ('ALL', 'FAILED')),
  events_per_second integer not null,
  status text not null default 'RUNNING' check (status in ('RUNNING', 'COMPLETED', 'CANCELLED')),
  events_sent integer not null default 0,
  finished_at timestamptz,
  primary key (platform_id, environment, id),
  foreign key (platform_id, environment, webhook_id) references webhooks on delete cascade
);
create unique index webhook_replays_running on webhook_replays (platform_id, environment, webhook_id) where status = 'RUNNING';
create index webhook_replays_of_webhook on webhook_replays (platform_id, environment, webhook_id, created_at);
call protect_tenant_table('webhook_replays');
call allow_system('webhook_replays', 'millrace_worker', array['select', 'update']);

alter table webhook_attempts drop constraint webhook_attempts_kind_check,
  add constraint webhook_attempts_kind_check check (kind in ('QUEUE', 'PENALTY_BOX', 'RESEND', 'REPLAY')),
  add column replay_id text, -- of kind REPLAY
  add column replayed_object_id text; -- what its event is about: later events of it are sent again as well
create index webhook_attempts_replay on webhook_attempts (platform_id, environment, replay_id, replayed_object_id)
  where replay_id is not null;

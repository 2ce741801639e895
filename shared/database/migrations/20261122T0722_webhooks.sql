-- Webhooks (contract: Webhook, Events): where a tenant's changes are sent, how far each has come, and what became of each attempt.
-- What is sent is the outbox itself: a row of it never changes, so a payload is the same at every attempt.

create table webhooks (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  reference text not null,
  name text not null,
  url text not null,
  included_actions text[] not null default '{}',
  excluded_actions text[] not null default '{}',
  active boolean not null default true,
  disabled_reason text, -- set when the service ended it
  include_previous_data boolean not null default false,
  authentication_type text not null default 'NONE' check (authentication_type in ('PASSWORD', 'API_KEY', 'NONE')),
  username text,
  -- Sealed under DATA_SECRET (shared/secrets/seal.ts), as are the secrets.
  password_sealed text,
  api_header_field text,
  api_key_sealed text,
  secret_sealed text,
  secret_rolled_at timestamptz,
  previous_secret_sealed text,
  previous_secret_until timestamptz,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, reference),
  check (not active or disabled_reason is null),
  check ((previous_secret_sealed is null) = (previous_secret_until is null))
);
call protect_tenant_table('webhooks');

-- One ordered queue a webhook. Apart from the webhook itself, since it changes with every delivery and the webhook with none.
create table webhook_queues (
  platform_id text not null,
  environment environment not null,
  webhook_id text not null,
  position bigint not null, -- of the outbox: everything up to it has been delivered or passed over
  next_attempt_at timestamptz, -- null: nothing waits
  waiting_since timestamptz, -- when the oldest change that waits was made
  wakes bigint not null default 0, -- rises with every batch of changes for it
  failures integer not null default 0, -- in a row
  cause text, -- of the last failure
  is_slow boolean not null default false, -- its last answer took long: it waits among its like
  leased_until timestamptz not null default '-infinity',
  fence bigint not null default 0, -- rises with every lease: only the holder of the last one may record
  primary key (platform_id, environment, webhook_id),
  foreign key (platform_id, environment, webhook_id) references webhooks on delete cascade
);
create index webhook_queues_due on webhook_queues (is_slow, next_attempt_at) where next_attempt_at is not null;
call protect_tenant_table('webhook_queues');

create table webhook_attempts (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  webhook_id text not null, -- without a foreign key: an attempt may be recorded after its webhook was deleted
  event_id text not null, -- of the outbox
  kind text not null check (kind in ('QUEUE', 'PENALTY_BOX', 'RESEND')),
  succeeded boolean not null,
  response_code integer,
  cause text,
  duration_ms integer not null,
  primary key (platform_id, environment, id)
);
create index webhook_attempts_event on webhook_attempts (platform_id, environment, event_id, webhook_id);
create index webhook_attempts_age on webhook_attempts (created_at);
call protect_tenant_table('webhook_attempts');

-- What waits for one webhook, in its order.
create index outbox_of_tenant on outbox (platform_id, environment, position) where position is not null;

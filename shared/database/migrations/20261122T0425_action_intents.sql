-- What an action is about to do outside the database, kept from before it begins until its effects and its answer are stored. One
-- that was left between is finished by the worker (api/http/actions/README.md). `fence` rises each time someone takes it on: only
-- the last of them may settle it.
create table action_intents (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  action text, -- null: a call without effects outside; only its Idempotency-Key is reserved, and the caller may send it again
  intent jsonb not null,
  actor jsonb not null,
  method text not null,
  path text not null,
  key text, -- the Idempotency-Key
  request_hash text not null,
  fence bigint not null default 1,
  attempts integer not null default 1,
  leased_until timestamptz not null,
  primary key (platform_id, environment, id)
);
create unique index action_intents_key on action_intents (platform_id, environment, method, path, key) where key is not null;
create index action_intents_left on action_intents (leased_until);
call protect_tenant_table('action_intents');
create policy millrace_worker_select on action_intents for select to millrace_worker using (true);
grant select (platform_id, environment, id, action, leased_until) on action_intents to millrace_worker;

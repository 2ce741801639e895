-- Actions on many invoices at once, and what became of each of them.
create table bulk_actions (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  type text not null check (type in ('FINALIZE_INVOICES')),
  status text not null check (status in ('SCHEDULED', 'IN_PROGRESS', 'DONE', 'ERROR')),
  message text,
  finalize_invoices jsonb,
  -- Who created it: its changes of invoices are theirs.
  actor_id text,
  executed_at timestamptz,
  primary key (platform_id, environment, id),
  foreign key (platform_id, environment) references platforms
);
create index bulk_actions_created on bulk_actions (platform_id, environment, created_at, id);
create index bulk_actions_unfinished on bulk_actions (updated_at) where status in ('SCHEDULED', 'IN_PROGRESS');
call protect_tenant_table('bulk_actions');
-- A worker looks for those whose run was killed.
call allow_system('bulk_actions', 'millrace_worker', array['select']);

create table bulk_action_items (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  bulk_action_id text not null,
  invoice_id text not null,
  status text not null check (status in ('SCHEDULED', 'SUCCEEDED', 'FAILED')),
  message text,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, bulk_action_id, invoice_id),
  foreign key (platform_id, environment, bulk_action_id) references bulk_actions,
  foreign key (platform_id, environment, invoice_id) references invoices,
  check ((status = 'FAILED') = (message is not null))
);
create index bulk_action_items_created on bulk_action_items (platform_id, environment, bulk_action_id, created_at, id);
call protect_tenant_table('bulk_action_items');

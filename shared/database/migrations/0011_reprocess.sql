-- Reprocessing: invoices that are not FINAL are computed again from what usage, prices and parties are now.

alter table platforms add column reprocessing_settings jsonb not null default '{}';

-- When an invoice is due to be computed again; it is over once it is, or once the invoice is closed.
alter table invoices add column to_be_reprocessed_at timestamptz;
alter table invoices add check (to_be_reprocessed_at is null or status in ('OPEN', 'DRAFT'));
create index invoices_to_be_reprocessed on invoices (platform_id, environment) where to_be_reprocessed_at is not null;

create table reprocesses (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  type text not null check (type in ('NOT_MATCHED', 'INVOICE', 'CUSTOMER')),
  status text not null check (status in ('SCHEDULED', 'IN_PROGRESS', 'DONE', 'ERROR')),
  percentage integer not null check (percentage between 0 and 100),
  message text,
  -- What was asked, as it was asked.
  invoice jsonb,
  not_matched jsonb,
  customer jsonb,
  -- The same for queries; invoice_id and customer_id null: every customer's.
  invoice_id text,
  customer_id text,
  start_at timestamptz,
  -- Scheduled by a change of usage or of a schedule, not by a call; the next such change joins it while it waits.
  automatic boolean not null,
  scheduled_at timestamptz not null,
  finished_at timestamptz,
  primary key (platform_id, environment, id),
  foreign key (platform_id, environment) references platforms,
  foreign key (platform_id, environment, invoice_id) references invoices,
  foreign key (platform_id, environment, customer_id) references customers,
  check ((type = 'INVOICE') = (invoice_id is not null)),
  check (type <> 'CUSTOMER' or customer_id is not null),
  check ((finished_at is not null) = (status in ('DONE', 'ERROR')))
);
create index reprocesses_unfinished on reprocesses (platform_id, environment, status, customer_id) where status <> 'DONE';
call protect_tenant_table('reprocesses');
-- A worker looks for those whose run was killed.
call allow_system('reprocesses', 'millrace_worker', array['select']);

-- The invoices of one reprocess, so that a run that was killed goes on where it was.
create table reprocess_items (
  platform_id text not null,
  environment environment not null,
  reprocess_id text not null,
  invoice_id text not null,
  -- SKIPPED: it was closed before its turn came.
  status text not null default 'SCHEDULED' check (status in ('SCHEDULED', 'DONE', 'SKIPPED', 'ERROR')),
  message text,
  primary key (platform_id, environment, reprocess_id, invoice_id),
  foreign key (platform_id, environment, reprocess_id) references reprocesses,
  foreign key (platform_id, environment, invoice_id) references invoices
);
call protect_tenant_table('reprocess_items');

-- What a FINAL invoice of a subscription was priced from, beside usage: with it and the log the same invoice can be priced again at
-- any time. Text, since it is read as a whole. Invoices that were FINAL before have no row.

-- What the invoices of many subscriptions have in common, kept once.
create table pinned_catalogs (
  platform_id text not null,
  environment environment not null,
  hash text not null,
  content text not null,
  primary key (platform_id, environment, hash),
  foreign key (platform_id, environment) references platforms
);
call protect_tenant_table('pinned_catalogs');

create table pinned_inputs (
  platform_id text not null,
  environment environment not null,
  invoice_id text not null,
  catalog_hash text not null,
  inputs text not null,
  request text not null,
  primary key (platform_id, environment, invoice_id),
  foreign key (platform_id, environment, invoice_id) references invoices,
  foreign key (platform_id, environment, catalog_hash) references pinned_catalogs
);
call protect_tenant_table('pinned_inputs');
revoke update, delete on pinned_inputs, pinned_catalogs from millrace_app;

-- The usage receipt of a FINAL invoice: the root of a Merkle tree over the events it counted.
create table usage_receipts (
  platform_id text not null,
  environment environment not null,
  invoice_id text not null,
  created_at timestamptz not null,
  root text not null,
  number_of_events bigint not null check (number_of_events >= 0),
  primary key (platform_id, environment, invoice_id),
  foreign key (platform_id, environment, invoice_id) references pinned_inputs
);
call protect_tenant_table('usage_receipts');
revoke update, delete on usage_receipts from millrace_app;

-- Those that wait for their receipt.
alter table pinned_inputs add column has_receipt boolean not null default false;
grant update (has_receipt) on pinned_inputs to millrace_app;
create index pinned_inputs_waiting on pinned_inputs (platform_id, environment, invoice_id) where not has_receipt;
call allow_system('pinned_inputs', 'millrace_worker', array['select']);

-- Payments that were made elsewhere and are recorded here. One for an invoice counts towards it while it is AUTHORIZED; one without an
-- invoice is on account of the customer.
create table payments (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  customer_id text not null,
  invoice_id text,
  timestamp timestamptz not null,
  amount jsonb not null check ((amount ->> 'quantity')::numeric > 0),
  reference text,
  external_reference text,
  result text not null check (result in ('AUTHORIZED', 'CANCELLED')),
  primary key (platform_id, environment, id),
  foreign key (platform_id, environment, customer_id) references customers,
  foreign key (platform_id, environment, invoice_id) references invoices
);
create index payments_invoice on payments (platform_id, environment, invoice_id);
create index payments_customer on payments (platform_id, environment, customer_id);
create index payments_external_reference on payments (platform_id, environment, external_reference);
call protect_tenant_table('payments');

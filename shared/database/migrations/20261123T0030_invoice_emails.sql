-- Invoices that are sent by e-mail, and what became of each sending. Addresses are not kept: they are read when it is sent.
create table invoice_emails (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  invoice_id text not null,
  trigger_type text not null check (trigger_type in ('MANUAL', 'AUTOMATIC')),
  status text not null check (status in ('SCHEDULED', 'SENT', 'FAILED')),
  message text,
  sent_at timestamptz,
  claimed_until timestamptz,
  primary key (platform_id, environment, id),
  foreign key (platform_id, environment, invoice_id) references invoices,
  check ((status = 'SENT') = (sent_at is not null)),
  check (status <> 'FAILED' or message is not null)
);
-- An invoice is sent by itself once.
create unique index invoice_emails_automatic on invoice_emails (platform_id, environment, invoice_id)
  where trigger_type = 'AUTOMATIC';
create index invoice_emails_of_invoice on invoice_emails (platform_id, environment, invoice_id, created_at, id);
create index invoice_emails_scheduled on invoice_emails (updated_at) where status = 'SCHEDULED';
call protect_tenant_table('invoice_emails');
-- A worker looks for those whose job was lost.
call allow_system('invoice_emails', 'millrace_worker', array['select']);

alter table customers add column notification_preferences jsonb;
alter table contacts add column notification_preferences jsonb;

-- What a FINAL invoice was made from where it bills no period of a subscription, and what later refreshes changed of what any FINAL
-- invoice shows: with both, the same document can be made again at any time. Text, since it is read as a whole.
create table kept_with_invoices (
  platform_id text not null,
  environment environment not null,
  invoice_id text not null,
  -- In the order in which they were kept; the inputs come first.
  position integer not null check (position >= 0),
  part text not null check (part in ('INPUTS', 'CUSTOM_FIELD', 'TAX_RATES')),
  content text not null,
  primary key (platform_id, environment, invoice_id, position),
  foreign key (platform_id, environment, invoice_id) references invoices
);
call protect_tenant_table('kept_with_invoices');
revoke update, delete on kept_with_invoices from millrace_app;

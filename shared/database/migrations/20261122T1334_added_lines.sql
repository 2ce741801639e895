-- Lines that people add to invoices, by whatever makes the invoice; an invoice that is one-off has no others. What they come to is
-- computed with the rest of the invoice.
create table invoice_added_lines (
  platform_id text not null,
  environment environment not null,
  invoice_id text not null,
  id text not null,
  created_at timestamptz not null,
  position integer not null,
  product_item_id text,
  -- The price, the volume and the time of the line, as they were sent.
  line jsonb not null,
  primary key (platform_id, environment, invoice_id, id),
  foreign key (platform_id, environment, invoice_id) references invoices,
  foreign key (platform_id, environment, product_item_id) references product_items
);
create index invoice_added_lines_item on invoice_added_lines (platform_id, environment, product_item_id);
call protect_tenant_table('invoice_added_lines');
create trigger invoice_added_lines_final before insert or update or delete on invoice_added_lines
  for each row execute function protect_final_invoice_lines();

-- What a one-off invoice says of itself that an invoice of a subscription takes from there.
alter table invoices add column one_off jsonb;

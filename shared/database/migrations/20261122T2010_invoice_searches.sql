-- A search first reads the ids of its page, from an index alone, and then those rows. So what searches filter by lies in the indexes that
-- they are ordered by: an invoice that does not match is passed over without its row, which is a kilobyte and more. A year of a million
-- took seconds to read.
drop index invoices_created;
create index invoices_created on invoices (platform_id, environment, created_at, id, invoice_date, status, payment_status)
  include (billing_currency, invoice_number);
drop index invoices_date;
create index invoices_date on invoices (platform_id, environment, invoice_date, id, created_at);
create index invoices_due on invoices (platform_id, environment, due_date, id, created_at);
-- Few of many, by the order of lists.
create index invoices_not_final on invoices (platform_id, environment, status, created_at, id, invoice_date) where status <> 'FINAL';
create index invoices_not_paid on invoices (platform_id, environment, payment_status, created_at, id, invoice_date, status)
  where payment_status <> 'PAID';

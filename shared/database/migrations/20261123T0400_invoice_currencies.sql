-- A search for a currency that few invoices have passed over all the others: 440 ms of a year of a million. In the order of lists, and with
-- the date that searches are limited to.
create index invoices_currency on invoices (platform_id, environment, billing_currency, created_at, id, invoice_date);

-- Instead of invoices_unpaid and invoices_not_yet_overdue, whose conditions named the amount. Those are dropped by the next migration:
-- reads go on while these are made.
create index invoices_open_amount on invoices (platform_id, environment, due_date)
  where status = 'FINAL' and payment_status in ('UNPAID', 'PARTIALLY_PAID') and not nothing_due;
-- The worker's search for invoices whose due date has passed goes over all tenants.
create index invoices_becoming_overdue on invoices (due_date)
  where status = 'FINAL' and payment_status in ('UNPAID', 'PARTIALLY_PAID') and not nothing_due and overdue_at is null;
grant select (nothing_due) on invoices to millrace_worker;

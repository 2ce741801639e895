-- What an on-demand charge bills: the schedule, its day, and the items as ordered. Null for other invoices.
alter table invoices add column on_demand jsonb;

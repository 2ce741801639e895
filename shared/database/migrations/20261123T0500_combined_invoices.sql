-- One invoice for several subscriptions of a customer: the DRAFT invoices of the subscriptions become ARCHIVED, and one
-- FINAL invoice has the lines of all of them.
alter table pricing_plan_subscriptions add column combine boolean not null default false;

-- Checked for stored rows, and indexed, in migrations of their own: here every reader of invoices would wait for that.
alter table invoices
  -- The FINAL invoice that this invoice was issued in. It is saved in the same transaction, before or after.
  add column combined_into_id text,
  add constraint invoices_combined_into foreign key (platform_id, environment, combined_into_id) references invoices
    deferrable initially deferred not valid,
  add constraint invoices_combined_status check (combined_into_id is null or status = 'ARCHIVED') not valid;

-- Which document billed it, where that is another one than the invoice of the subscription.
alter table closed_usage add column combined_into_id text;

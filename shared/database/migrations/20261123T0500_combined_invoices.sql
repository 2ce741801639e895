-- One invoice for several subscriptions of a customer: the DRAFT invoices of the subscriptions become ARCHIVED, and one
-- FINAL invoice has the lines of all of them.
alter table pricing_plan_subscriptions add column combine boolean not null default false;

-- The others of a customer are looked up when one of them closes.
create index pricing_plan_subscriptions_combined on pricing_plan_subscriptions (platform_id, environment, customer_id) where combine;

alter table invoices
  -- The FINAL invoice that this invoice was issued in. It is saved in the same transaction, before or after.
  add column combined_into_id text,
  add foreign key (platform_id, environment, combined_into_id) references invoices deferrable initially deferred,
  add check (combined_into_id is null or status = 'ARCHIVED');
create index invoices_combined on invoices (platform_id, environment, combined_into_id) where combined_into_id is not null;

-- Which document billed it, where that is another one than the invoice of the subscription.
alter table closed_usage add column combined_into_id text;

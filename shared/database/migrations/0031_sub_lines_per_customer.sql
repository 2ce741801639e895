-- Whether the usage lines of a subscription's invoices have a sub line for each customer whose events are in them.
alter table pricing_plan_subscriptions
  add column display_invoice_sub_lines_per_processing_only_customer boolean not null default false;

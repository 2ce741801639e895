-- Subscriptions that the billing entity invoices in the name of the customer.
alter table pricing_plan_subscriptions
  drop constraint pricing_plan_subscriptions_variant_check,
  add constraint pricing_plan_subscriptions_variant_check check (variant in ('DEFAULT', 'SELF_BILLING'));

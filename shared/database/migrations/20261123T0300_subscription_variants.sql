-- Subscriptions whose invoices another customer gets (FORWARD_BILLING), and those that are billed for a seller (SELLER).
alter table pricing_plan_subscriptions
  drop constraint pricing_plan_subscriptions_variant_check,
  add constraint pricing_plan_subscriptions_variant_check
    check (variant in ('DEFAULT', 'FORWARD_BILLING', 'SELF_BILLING', 'SELLER')),
  add column forward_customer_id text,
  add column seller_details jsonb,
  add constraint forward_customer_by_variant check (forward_customer_id is null or variant = 'FORWARD_BILLING'),
  add constraint seller_by_variant check (seller_details is null or variant = 'SELLER'),
  add foreign key (platform_id, environment, forward_customer_id) references customers;
create index pricing_plan_subscriptions_forward_customer
  on pricing_plan_subscriptions (platform_id, environment, forward_customer_id) where forward_customer_id is not null;

-- The billing entity that bills for a customer that is a SELLER.
alter table customers add column seller_details jsonb;

-- Subscriptions that are not billed: blueprints (TEMPLATE), which have no customer, and those that a quote offers (QUOTE).
alter table pricing_plan_subscriptions
  alter column customer_id drop not null,
  drop constraint pricing_plan_subscriptions_type_check,
  add constraint pricing_plan_subscriptions_type_check check (type in ('BILLING', 'QUOTE', 'TEMPLATE')),
  add constraint template_has_no_customer check ((type = 'TEMPLATE') = (customer_id is null)),
  -- For how long it was agreed, and for how long it is renewed each time.
  add column initial_term jsonb,
  add column renewal_term jsonb,
  add column auto_renewal boolean not null default true,
  -- The start of its first schedule; lists filter by it.
  add column start_at timestamptz;
update pricing_plan_subscriptions s set start_at =
  (select min(h.start_at) from pricing_plan_schedules h
   where h.platform_id = s.platform_id and h.environment = s.environment and h.pricing_plan_subscription_id = s.id);
create index pricing_plan_subscriptions_start on pricing_plan_subscriptions (platform_id, environment, start_at)
  where start_at is not null;

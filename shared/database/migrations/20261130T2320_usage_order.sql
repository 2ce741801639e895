-- Of subscriptions that are due at the same time, a billing group takes those whose customers' usage lies together in ClickHouse. Otherwise
-- it reads the usage of all other customers that lies between them.
alter table pricing_plan_subscriptions
  -- The start of the name that the customer's events carry, as the last run found it; null before the first run. A stale one costs time alone.
  add column usage_order text collate "C";
drop index pricing_plan_subscriptions_tenant_due;
create index pricing_plan_subscriptions_tenant_due on pricing_plan_subscriptions (platform_id, environment, next_billing_at, usage_order)
  where next_billing_at is not null;

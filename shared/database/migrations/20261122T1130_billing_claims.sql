-- Subscriptions that are due are billed in groups; who bills a group claims it for a while.
alter table pricing_plan_subscriptions
  -- Until when a run holds it. One whose time is over was left by a run that died or could not bill it, and is billed by itself.
  add column billing_claimed_until timestamptz;
grant select (billing_claimed_until) on pricing_plan_subscriptions to millrace_worker;

-- What is due of one tenant, in order, without passing by what is due of the others.
create index pricing_plan_subscriptions_tenant_due on pricing_plan_subscriptions (platform_id, environment, next_billing_at)
  where next_billing_at is not null;

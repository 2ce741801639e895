-- The day that billing periods of an EXACT subscription count from; null for the start of its first schedule.
alter table pricing_plan_subscriptions add column billing_anchor timestamptz
  constraint billing_anchor_is_exact check (billing_anchor is null or billing_time = 'EXACT');

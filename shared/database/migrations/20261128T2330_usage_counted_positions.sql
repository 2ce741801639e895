-- A run keeps how far it counted, so that what it has counted already does not make the subscription due again.
alter table pricing_plan_subscriptions
  -- For each partition of the log, the position up to which the last run counted the usage; null before the first.
  add column usage_counted_positions bigint[];

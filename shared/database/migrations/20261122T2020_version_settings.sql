-- The currencies and billing periods that a version says it is sold in; without them its prices say so (semantics 3.1).
alter table pricing_plan_versions
  add column pricing_currency_settings jsonb,
  add column billing_period_settings jsonb;

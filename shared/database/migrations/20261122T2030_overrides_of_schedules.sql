-- The prices that a schedule has instead of those of its plan version (semantics 4.3).
alter table pricing_plan_schedules
  add column override_pricings jsonb not null default '[]' check (jsonb_typeof(override_pricings) = 'array');

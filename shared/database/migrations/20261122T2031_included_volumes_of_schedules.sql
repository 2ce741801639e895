-- The usage that a schedule includes in its prices, and when (semantics 3.3).
alter table pricing_plan_schedules
  add column included_volumes jsonb not null default '[]' check (jsonb_typeof(included_volumes) = 'array');

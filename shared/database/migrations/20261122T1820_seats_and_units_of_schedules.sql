-- How many seats and units a schedule charges, instead of what its prices state (semantics 4.4; contract: Units on one-off items).
alter table pricing_plan_schedules
  add column seats_values jsonb not null default '[]' check (jsonb_typeof(seats_values) = 'array'),
  add column units jsonb not null default '[]' check (jsonb_typeof(units) = 'array');

-- The discounts of a schedule, as they are on the wire; null for none.
alter table pricing_plan_schedules add column discount jsonb;

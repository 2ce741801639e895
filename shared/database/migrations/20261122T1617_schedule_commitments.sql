-- The markups and the minimums of a schedule, as they are on the wire; null for none.
alter table pricing_plan_schedules add column markup jsonb, add column commitment jsonb;

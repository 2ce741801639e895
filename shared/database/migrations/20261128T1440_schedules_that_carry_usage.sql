-- Schedules made by copy, or by migrate within their plan, go on counting the usage of the schedule before them.
alter table pricing_plan_schedules add column carries_usage boolean not null default false;

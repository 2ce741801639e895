-- Whether a schedule ran on without an end until the one after it was created: it runs on again when that draft is deleted.
alter table pricing_plan_schedules add column ended_by_next boolean not null default false;

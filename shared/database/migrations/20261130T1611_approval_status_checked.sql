-- In a migration of its own: it reads every schedule, and others are written meanwhile.
alter table pricing_plan_schedules validate constraint pricing_plan_schedules_approval_status_check;

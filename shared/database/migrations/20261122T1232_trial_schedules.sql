-- A TRIAL is a time in which a plan grants its entitlements and charges nothing.
alter table pricing_plan_schedules
  drop constraint pricing_plan_schedules_type_check,
  add constraint pricing_plan_schedules_type_check check (type in ('DEFAULT', 'TRIAL'));

-- Schedules from whose start the billing periods of an EXACT subscription count.
alter table pricing_plan_schedules
  add column realign_invoice_date_to_pricing_plan_schedule_start_at boolean not null default false;

-- Whether what a schedule has charged ahead is credited for the days left when it ends (cancellations say so in inactive_periods).
alter table pricing_plan_schedules add column refund_advance_charges boolean not null default false;

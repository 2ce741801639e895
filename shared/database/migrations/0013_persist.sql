-- Whether a calculation carries its state on from period to period, from the start of the schedule.
alter table meter_value_calculations add column persist boolean not null default false;

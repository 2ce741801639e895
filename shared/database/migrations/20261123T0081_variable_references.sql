-- A variable may have a reference, by which the catalog file names it on every platform.
alter table meter_property_variables
  add column reference text,
  add unique (platform_id, environment, reference);

-- Lists of values that conditions of prices name, and what decides which subscription an event belongs to.

create table meter_property_variables (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  meter_property_id text not null,
  -- How many values are not removed; kept here so that a list of variables reads no values.
  value_count integer not null check (value_count between 0 and 10000),
  primary key (platform_id, environment, id),
  foreign key (platform_id, environment) references platforms,
  foreign key (platform_id, environment, meter_property_id) references meter_properties
);
create index meter_property_variables_property on meter_property_variables (platform_id, environment, meter_property_id);
call protect_tenant_table('meter_property_variables');

-- A value keeps the hash of the request that put it in, and for a while that of the one that took it out, so that a repeat of
-- either is answered as it was the first time.
create table meter_property_variable_values (
  platform_id text not null,
  environment environment not null,
  meter_property_variable_id text not null,
  value text collate "C" not null,
  added_at timestamptz not null,
  removed_at timestamptz,
  change text not null,
  primary key (platform_id, environment, meter_property_variable_id, value),
  foreign key (platform_id, environment, meter_property_variable_id) references meter_property_variables on delete cascade
);
call protect_tenant_table('meter_property_variable_values');

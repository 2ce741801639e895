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

-- A customer's parents, which of its subscriptions an event is for, and whether it only sends events. `attribution_terms` has
-- what held from when on, [{from, selector, parent_customer_ids}] by time; null when nothing ever did. What an event belongs to
-- follows from what held at its time, so that a change never moves usage that an invoice has asked for.
alter table customers
  add column parent_customer_ids text[] not null default '{}',
  add column roles text[] not null default '{DEFAULT}',
  add column pricing_plan_subscription_selector jsonb,
  add column attribution_terms jsonb;
create index customers_parents on customers using gin (attribution_terms jsonb_path_ops) where attribution_terms is not null;

-- The country is that of the billing entity when the subscription was activated: selectors go by it, so it may not change under
-- usage that has been billed.
alter table pricing_plan_subscriptions
  add column replicate_meter_data_ingest_to_parent boolean not null default false,
  add column billing_entity_country text;
update pricing_plan_subscriptions s set billing_entity_country = e.registered_address ->> 'country'
from billing_entities e
where e.platform_id = s.platform_id and e.environment = s.environment and e.id = s.billing_entity_id and s.activated_at is not null;

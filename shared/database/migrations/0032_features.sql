-- What a plan grants besides its prices. The service stores features and entitlements and shows them; it blocks nobody.

create table features (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  reference text not null,
  name text,
  description text,
  type text not null check (type in ('SWITCH', 'NUMBER', 'ENUM', 'AMOUNT', 'STRING')),
  enum_values text[],
  meter_value_calculation_id text,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, reference),
  foreign key (platform_id, environment) references platforms,
  foreign key (platform_id, environment, meter_value_calculation_id) references meter_value_calculations,
  check ((type = 'ENUM') = (enum_values is not null)),
  check (meter_value_calculation_id is null or type in ('NUMBER', 'AMOUNT'))
);
create index features_calculation on features (platform_id, environment, meter_value_calculation_id);
call protect_tenant_table('features');

-- Entitlements: what the pricings of a version grant, and what one schedule grants besides or instead. Lists of what names
-- features; the api checks that each exists and locks it while it does, and deletes no feature that one of them names.
alter table pricings add column entitlements jsonb not null default '[]';
alter table pricing_plan_schedules add column entitlements jsonb not null default '[]';
create index pricings_entitlements on pricings using gin (entitlements jsonb_path_ops) where entitlements <> '[]';
create index pricing_plan_schedules_entitlements on pricing_plan_schedules using gin (entitlements jsonb_path_ops)
  where entitlements <> '[]';

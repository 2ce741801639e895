-- What a tenant measures. References here are what events carry, so they never change once given.

create table meter_values (
  platform_id text not null,
  environment environment not null,
  id text not null,
  reference text not null,
  name text not null,
  description text,
  status text not null check (status in ('DRAFT', 'ACTIVE', 'DEPRECATED', 'ARCHIVED')),
  type text not null check (type in ('NUMBER', 'AMOUNT')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, reference),
  foreign key (platform_id, environment) references platforms
);
call protect_tenant_table('meter_values');

create table meter_properties (
  platform_id text not null,
  environment environment not null,
  id text not null,
  reference text not null,
  name text not null,
  description text,
  status text not null check (status in ('DRAFT', 'ACTIVE', 'DEPRECATED', 'ARCHIVED')),
  type text not null check (type in ('NUMBER', 'ENUM', 'STRING')),
  enum_values text[],
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, reference),
  foreign key (platform_id, environment) references platforms
);
call protect_tenant_table('meter_properties');

-- meter_values and meter_properties are lists of {id, reference, required}; the api checks that every id exists and locks it
-- while it does, and refuses to delete a value or property that a meter lists.
create table meters (
  platform_id text not null,
  environment environment not null,
  id text not null,
  reference text not null,
  name text,
  description text,
  status text not null check (status in ('DRAFT', 'ACTIVE', 'DEPRECATED', 'ARCHIVED')),
  meter_values jsonb not null default '[]',
  meter_properties jsonb not null default '[]',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, reference),
  foreign key (platform_id, environment) references platforms
);
call protect_tenant_table('meters');

create table meter_value_calculations (
  platform_id text not null,
  environment environment not null,
  id text not null,
  reference text not null,
  name text,
  description text,
  calculation_type text not null check (calculation_type in ('SUM', 'MAX', 'MIN', 'AVERAGE', 'UNIQUE')),
  meter_id text not null,
  meter_value_id text,
  meter_property_id text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, reference),
  foreign key (platform_id, environment, meter_id) references meters,
  foreign key (platform_id, environment, meter_value_id) references meter_values,
  foreign key (platform_id, environment, meter_property_id) references meter_properties,
  check (num_nonnulls(meter_value_id, meter_property_id) = 1)
);
call protect_tenant_table('meter_value_calculations');

do $$
declare target text;
begin
  foreach target in array array['meters', 'meter_values', 'meter_properties'] loop
    execute format('call allow_system(%L, %L, array[%L])', target, 'millrace_gateway', 'select');
    execute format('create trigger %I after insert or update or delete on %I for each statement execute function notify_change()', target || '_changed', target);
  end loop;
end $$;

-- What the gateway validates events against: ACTIVE meters with the values and properties they name, resolved.
create view ingest_meters with (security_invoker = true) as
select
  m.platform_id, m.environment, m.id, m.reference,
  coalesce((
    select jsonb_agg(jsonb_build_object('id', v.id, 'reference', v.reference, 'type', v.type, 'required', coalesce(e.required, false)))
    from jsonb_to_recordset(m.meter_values) as e(id text, required boolean)
    join meter_values v on v.platform_id = m.platform_id and v.environment = m.environment and v.id = e.id
  ), '[]') as meter_values,
  coalesce((
    select jsonb_agg(jsonb_build_object('id', p.id, 'reference', p.reference, 'type', p.type, 'enum_values', p.enum_values, 'required', coalesce(e.required, false)))
    from jsonb_to_recordset(m.meter_properties) as e(id text, required boolean)
    join meter_properties p on p.platform_id = m.platform_id and p.environment = m.environment and p.id = e.id
  ), '[]') as meter_properties
from meters m
where m.status = 'ACTIVE';
grant select on ingest_meters to millrace_gateway;

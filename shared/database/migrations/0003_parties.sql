-- Who is billed, and who bills.

create table customers (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  reference text,
  status text not null check (status in ('DRAFT', 'ACTIVE', 'DEPRECATED', 'ARCHIVED')),
  type text not null check (type in ('ORGANIZATION', 'INDIVIDUAL')),
  timezone text,
  email text,
  locale text,
  individual jsonb,
  organization jsonb,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, reference),
  foreign key (platform_id, environment) references platforms
);
call protect_tenant_table('customers');

create table billing_entities (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  reference text not null,
  status text not null check (status in ('DRAFT', 'ACTIVE', 'DEPRECATED', 'ARCHIVED')),
  timezone text,
  legal_name text,
  tax_id text,
  registration_number text,
  registered_address jsonb,
  email text,
  tax_settings jsonb,
  tax_registrations jsonb,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, reference),
  foreign key (platform_id, environment) references platforms
);
call protect_tenant_table('billing_entities');

alter table platforms add foreign key (platform_id, environment, default_billing_entity_id) references billing_entities;

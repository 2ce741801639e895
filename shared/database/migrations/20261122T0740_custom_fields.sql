-- Custom fields: what a platform records of its resources beyond their own fields, and the values that resources have.

create table custom_fields (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  reference text not null,
  -- The object type of the resources that have the field. A reference is unique for each.
  resource_type text not null,
  name text,
  description text,
  type text not null check (type in ('STRING', 'NUMBER', 'BOOLEAN', 'ENUM')),
  enum_values text[],
  multiple_values boolean not null,
  unique_value boolean not null,
  copy_value_to_invoice boolean not null,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, reference, resource_type),
  foreign key (platform_id, environment) references platforms,
  check ((type = 'ENUM') = (enum_values is not null))
);
call protect_tenant_table('custom_fields');

-- One row a value, in the one form in which values of its type are compared. A resource may be of any table, so nothing refers to
-- it: the api deletes its values with it.
create table custom_field_values (
  platform_id text not null,
  environment environment not null,
  resource_id text not null,
  custom_field_id text not null,
  position integer not null,
  value text collate "C" not null,
  -- Whether the field holds each value once: as the field says, here for the index.
  is_unique boolean not null,
  primary key (platform_id, environment, resource_id, custom_field_id, position),
  foreign key (platform_id, environment, custom_field_id) references custom_fields
);
-- What a list filtered by a custom field reads.
create index custom_field_values_value on custom_field_values (platform_id, environment, custom_field_id, value, resource_id);
create unique index custom_field_values_unique on custom_field_values (platform_id, environment, custom_field_id, value)
  where is_unique;
call protect_tenant_table('custom_field_values');

-- What names a field by its reference, such as the prefix of invoice numbers: while it does, the field keeps its reference.
create table custom_field_uses (
  platform_id text not null,
  environment environment not null,
  custom_field_id text not null,
  resource_type text not null,
  resource_id text not null,
  primary key (platform_id, environment, custom_field_id, resource_type, resource_id),
  foreign key (platform_id, environment, custom_field_id) references custom_fields
);
call protect_tenant_table('custom_field_uses');

-- How the documents of a platform look, and where they say to pay.
alter table platforms add column branding jsonb not null default '{}';

create table payment_acceptors (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  billing_entity_id text not null,
  reference text not null,
  name text,
  description text,
  type text not null check (type in ('BANK_ACCOUNT', 'CUSTOM_REDIRECT')),
  status text not null check (status in ('DRAFT', 'ACTIVE', 'DEPRECATED', 'ARCHIVED')),
  bank_account jsonb,
  custom_redirect jsonb,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, reference),
  foreign key (platform_id, environment) references platforms,
  foreign key (platform_id, environment, billing_entity_id) references billing_entities
);
create index payment_acceptors_by_entity on payment_acceptors (platform_id, environment, billing_entity_id);
call protect_tenant_table('payment_acceptors');

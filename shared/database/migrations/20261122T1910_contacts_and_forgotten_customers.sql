-- People at a customer (contract: contacts).
create table contacts (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  reference text not null,
  customer_id text not null,
  name jsonb,
  email text,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, reference),
  foreign key (platform_id, environment) references platforms,
  foreign key (platform_id, environment, customer_id) references customers
);
create index contacts_customer on contacts (platform_id, environment, customer_id);
create index contacts_created on contacts (platform_id, environment, created_at, id);
call protect_tenant_table('contacts');

-- When the personal data of a customer were erased; such a customer never changes again.
alter table customers
  add column forgotten_at timestamptz,
  add check (forgotten_at is null or status in ('DRAFT', 'ARCHIVED'));

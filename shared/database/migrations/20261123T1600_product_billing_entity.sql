-- Products that one billing entity alone sells.
alter table products
  add column billing_entity_id text,
  add foreign key (platform_id, environment, billing_entity_id) references billing_entities;
create index products_billing_entity on products (platform_id, environment, billing_entity_id)
  where billing_entity_id is not null;

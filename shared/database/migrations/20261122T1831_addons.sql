-- ADDON products and pricings: an ADDON is sold only by the schedules that enable it, and while they do (semantics 3.1).
alter table products
  drop constraint products_product_type_check,
  add constraint products_product_type_check check (product_type in ('DEFAULT', 'ADDON'));
alter table pricings
  drop constraint pricings_product_type_check,
  add constraint pricings_product_type_check check (product_type in ('DEFAULT', 'ADDON'));
create index pricings_addons on pricings (platform_id, environment, pricing_plan_version_id) where product_type = 'ADDON';
alter table pricing_plan_schedules add column enabled_pricings jsonb not null default '[]';

-- A product may belong to another one, and names the features it has.
alter table products
  add column parent_product_id text,
  add column features jsonb not null default '[]',
  add foreign key (platform_id, environment, parent_product_id) references products;
create index products_parent on products (platform_id, environment, parent_product_id) where parent_product_id is not null;
create index products_features on products using gin (features jsonb_path_ops) where features <> '[]';

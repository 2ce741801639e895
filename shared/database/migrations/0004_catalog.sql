-- What a tenant sells, and at what price.

create table product_categories (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  reference text not null,
  name text not null,
  description text,
  tax_category text check (tax_category in ('STANDARD', 'NO_TAX', 'EXEMPT')),
  display_order integer,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, reference),
  foreign key (platform_id, environment) references platforms
);
call protect_tenant_table('product_categories');

create table products (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  reference text,
  category_id text,
  name text not null,
  description text,
  status text not null check (status in ('DRAFT', 'ACTIVE', 'DEPRECATED', 'ARCHIVED')),
  product_type text not null check (product_type in ('DEFAULT')),
  tax_category text check (tax_category in ('STANDARD', 'NO_TAX', 'EXEMPT')),
  display_order integer,
  agent_context jsonb,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, reference),
  foreign key (platform_id, environment) references platforms,
  foreign key (platform_id, environment, category_id) references product_categories
);
create index products_category on products (platform_id, environment, category_id);
call protect_tenant_table('products');

create table product_items (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  reference text not null,
  product_id text not null,
  name text not null,
  description text,
  status text not null check (status in ('DRAFT', 'ACTIVE', 'DEPRECATED', 'ARCHIVED')),
  type text not null check (type in ('REVENUE', 'DEDUCTION')),
  model_type text not null check (model_type in ('USAGE_BASED', 'RECURRING')),
  usage_based jsonb,
  -- A column of its own, so that a foreign key keeps the calculation while an item measures by it.
  meter_value_calculation_id text generated always as (usage_based ->> 'meter_value_calculation_id') stored,
  tax_category text check (tax_category in ('STANDARD', 'NO_TAX', 'EXEMPT')),
  display_order integer,
  unit_name jsonb,
  agent_context jsonb,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, reference),
  foreign key (platform_id, environment) references platforms,
  foreign key (platform_id, environment, product_id) references products,
  foreign key (platform_id, environment, meter_value_calculation_id) references meter_value_calculations,
  check ((model_type = 'USAGE_BASED') = ((usage_based ->> 'meter_value_calculation_id') is not null))
);
create index product_items_product on product_items (platform_id, environment, product_id);
create index product_items_calculation on product_items (platform_id, environment, meter_value_calculation_id);
call protect_tenant_table('product_items');

create table pricing_plans (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  reference text not null,
  name text,
  description text,
  type text not null check (type in ('STANDARD')),
  amount_type text not null check (amount_type in ('EXCLUDING_TAX', 'INCLUDING_TAX')),
  variant text not null check (variant in ('DEFAULT')),
  agent_context jsonb,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, reference),
  foreign key (platform_id, environment) references platforms
);
call protect_tenant_table('pricing_plans');

create table pricing_plan_versions (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  pricing_plan_id text not null,
  version integer not null check (version > 0),
  status text not null check (status in ('DRAFT', 'ACTIVE', 'DEPRECATED', 'ARCHIVED')),
  -- History, not a reference: the draft it was copied from may be deleted since.
  copied_from_pricing_plan_version_id text,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, pricing_plan_id, version),
  foreign key (platform_id, environment, pricing_plan_id) references pricing_plans
);
call protect_tenant_table('pricing_plan_versions');

-- product_ids and items name products, product items and each other; the api checks that all of them exist and locks them
-- while it does, and refuses to delete a product or item that a pricing names.
create table pricings (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  pricing_plan_version_id text not null,
  name text not null,
  product_type text not null check (product_type in ('DEFAULT')),
  product_ids text[] not null,
  display_order integer,
  items jsonb not null,
  primary key (platform_id, environment, id),
  foreign key (platform_id, environment, pricing_plan_version_id) references pricing_plan_versions
);
create index pricings_version on pricings (platform_id, environment, pricing_plan_version_id);
create index pricings_products on pricings using gin (product_ids);
create index pricings_items on pricings using gin (items jsonb_path_ops);
call protect_tenant_table('pricings');

-- What is sold may not be repriced under a running subscription. The api refuses it with a reason; this holds whatever asks.
create function refuse_change_of_live_pricing() returns trigger language plpgsql as $$
declare
  touched pricings := coalesce(old, new);
  version_status text;
begin
  select status into version_status from pricing_plan_versions v
  where v.platform_id = touched.platform_id and v.environment = touched.environment and v.id = touched.pricing_plan_version_id;
  if version_status is distinct from 'DRAFT' then
    raise exception 'a pricing of a version that is % cannot change', version_status using errcode = 'restrict_violation';
  end if;
  return coalesce(new, old);
end $$;
create trigger pricings_live before insert or update or delete on pricings for each row execute function refuse_change_of_live_pricing();

-- Pricing groups: pricings of a version among which a schedule selects, as many as the group allows (semantics 3.1).
create table pricing_groups (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  pricing_plan_version_id text not null,
  name text not null,
  product_type text not null check (product_type in ('DEFAULT', 'ADDON')),
  selection_constraint text not null check (selection_constraint in ('ANY', 'AT_LEAST_ONE', 'AT_MOST_ONE', 'EXACTLY_ONE')),
  display_order integer,
  primary key (platform_id, environment, id),
  -- The name tells the field of a refusal.
  constraint pricing_groups_platform_id_environment_name_key unique (platform_id, environment, pricing_plan_version_id, name),
  foreign key (platform_id, environment, pricing_plan_version_id) references pricing_plan_versions
);
call protect_tenant_table('pricing_groups');

alter table pricings
  add column pricing_group_id text,
  add foreign key (platform_id, environment, pricing_group_id) references pricing_groups;
create index pricings_group on pricings (platform_id, environment, pricing_group_id) where pricing_group_id is not null;
-- What is sold only while it is enabled: ADDONs, and what is in a group.
drop index pricings_addons;
create index pricings_optional on pricings (platform_id, environment, pricing_plan_version_id)
  where product_type = 'ADDON' or pricing_group_id is not null;

-- What may be selected under a running subscription is fixed with its version. The api refuses a change with a reason; this holds
-- whatever asks.
create function refuse_change_of_live_pricing_group() returns trigger language plpgsql as $$
declare
  touched pricing_groups := coalesce(old, new);
  version_status text;
begin
  select status into version_status from pricing_plan_versions v
  where v.platform_id = touched.platform_id and v.environment = touched.environment and v.id = touched.pricing_plan_version_id;
  if version_status is distinct from 'DRAFT' then
    raise exception 'a pricing group of a version that is % cannot change', version_status using errcode = 'restrict_violation';
  end if;
  return coalesce(new, old);
end $$;
create trigger pricing_groups_live before insert or update or delete on pricing_groups
  for each row execute function refuse_change_of_live_pricing_group();

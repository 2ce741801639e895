-- What new subscriptions have where they do not say otherwise.
alter table platforms add column default_pricing_plan_subscription_settings jsonb not null default '{}';

-- Groups of subscriptions (contract: Pricing plan subscription group).
create table pricing_plan_subscription_groups (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  reference text not null,
  name text,
  description text,
  owner_customer_id text,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, reference),
  foreign key (platform_id, environment) references platforms,
  foreign key (platform_id, environment, owner_customer_id) references customers
);
create index pricing_plan_subscription_groups_owner
  on pricing_plan_subscription_groups (platform_id, environment, owner_customer_id);
create index pricing_plan_subscription_groups_created
  on pricing_plan_subscription_groups (platform_id, environment, created_at, id);
call protect_tenant_table('pricing_plan_subscription_groups');

alter table pricing_plan_subscriptions
  add column pricing_plan_subscription_group_id text,
  add foreign key (platform_id, environment, pricing_plan_subscription_group_id) references pricing_plan_subscription_groups;
create index pricing_plan_subscriptions_group
  on pricing_plan_subscriptions (platform_id, environment, pricing_plan_subscription_group_id)
  where pricing_plan_subscription_group_id is not null;

-- Groups of pricing plans, lowest tier first (contract: Pricing plan group).

create table pricing_plan_groups (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  reference text not null,
  name text,
  description text,
  status text not null check (status in ('DRAFT', 'ACTIVE', 'DEPRECATED', 'ARCHIVED')),
  pricing_plan_ids text[] not null,
  upgrade_type text not null
    check (upgrade_type in ('IMMEDIATE', 'IMMEDIATE_PRO_RATA', 'NEXT_BILLING_PERIOD', 'NOT_ALLOWED')),
  downgrade_type text not null
    check (downgrade_type in ('IMMEDIATE', 'IMMEDIATE_PRO_RATA', 'NEXT_BILLING_PERIOD', 'NOT_ALLOWED')),
  primary key (platform_id, environment, id),
  unique (platform_id, environment, reference),
  foreign key (platform_id, environment) references platforms
);
create index pricing_plan_groups_plans on pricing_plan_groups using gin (pricing_plan_ids);
call protect_tenant_table('pricing_plan_groups');

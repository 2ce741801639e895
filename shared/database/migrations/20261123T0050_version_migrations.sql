-- Migrations of all subscriptions of a plan version to another: previewed first, then carried out.

create table pricing_plan_version_migrations (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  from_pricing_plan_version_id text not null,
  pricing_plan_version_id text not null,
  type text not null check (type in ('IMMEDIATE', 'IMMEDIATE_PRO_RATA', 'NEXT_BILLING_PERIOD')),
  -- Null: now, or for each subscription at the end of its billing period.
  start_at timestamptz,
  coupon_discount_behaviour text not null check (coupon_discount_behaviour in ('NONE', 'CARRY_OVER')),
  status text not null check (status in ('SCHEDULED', 'PREVIEWED', 'IN_PROGRESS', 'DONE', 'CANCELLED', 'ERROR')),
  percentage integer not null check (percentage between 0 and 100),
  message text,
  -- How many were previewed, moved, skipped and refused, and the totals of the preview.
  result jsonb,
  finished_at timestamptz,
  primary key (platform_id, environment, id),
  foreign key (platform_id, environment) references platforms,
  foreign key (platform_id, environment, from_pricing_plan_version_id) references pricing_plan_versions on delete cascade,
  foreign key (platform_id, environment, pricing_plan_version_id) references pricing_plan_versions on delete cascade,
  check ((finished_at is not null) = (status in ('DONE', 'CANCELLED', 'ERROR'))),
  check (start_at is null or type <> 'NEXT_BILLING_PERIOD')
);
create index version_migrations_by_source on pricing_plan_version_migrations (platform_id, environment, from_pricing_plan_version_id);
create index version_migrations_by_target on pricing_plan_version_migrations (platform_id, environment, pricing_plan_version_id);
create index version_migrations_working on pricing_plan_version_migrations (updated_at) where status in ('SCHEDULED', 'IN_PROGRESS');
call protect_tenant_table('pricing_plan_version_migrations');
-- A worker looks for those whose run was killed.
call allow_system('pricing_plan_version_migrations', 'millrace_worker', array['select']);

-- The subscriptions of one migration, so that a run that was killed continues where it was.
create table migrated_subscriptions (
  platform_id text not null,
  environment environment not null,
  id text not null,
  migration_id text not null,
  pricing_plan_subscription_id text not null,
  customer_id text not null,
  currency text not null,
  status text not null check (status in ('SCHEDULED', 'PREVIEWED', 'MOVED', 'SKIPPED', 'ERROR')),
  start_at timestamptz,
  invoice_date timestamptz,
  amount numeric,
  migrated_amount numeric,
  difference numeric,
  pricing_plan_schedule_id text,
  code text,
  field text,
  message text,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, migration_id, pricing_plan_subscription_id),
  foreign key (platform_id, environment, migration_id) references pricing_plan_version_migrations on delete cascade,
  foreign key (platform_id, environment, pricing_plan_subscription_id) references pricing_plan_subscriptions on delete cascade,
  check ((status = 'MOVED') = (pricing_plan_schedule_id is not null)),
  check (status not in ('SKIPPED', 'ERROR') or message is not null)
);
create index migrated_subscriptions_by_status on migrated_subscriptions (platform_id, environment, migration_id, status, id);
create index migrated_subscriptions_by_difference on migrated_subscriptions (platform_id, environment, migration_id, difference, id);
create index migrated_subscriptions_by_subscription on migrated_subscriptions (platform_id, environment, pricing_plan_subscription_id);
call protect_tenant_table('migrated_subscriptions');

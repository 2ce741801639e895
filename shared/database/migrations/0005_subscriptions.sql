-- Who is billed for which plan, and when.

create table pricing_plan_subscriptions (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  reference text,
  status text not null check (status in ('DRAFT', 'ACTIVE', 'CANCELLED', 'VOID', 'ARCHIVED')),
  name text,
  description text,
  purchase_order_number text,
  customer_id text not null,
  billing_entity_id text not null,
  billing_period jsonb not null,
  billing_currency text not null,
  billing_time text not null check (billing_time in ('EXACT', 'CALENDAR')),
  due_date_configuration jsonb not null,
  type text not null check (type in ('BILLING')),
  variant text not null check (variant in ('DEFAULT')),
  sales_tax_percentage text,
  init_invoice_on_hold boolean not null default false,
  activated_at timestamptz,
  inactive_periods jsonb not null default '[]',
  -- When the cancellation in inactive_periods takes effect. In the future while the subscription is still ACTIVE.
  cancelled_at timestamptz,
  -- When the billing run should look at it next; null when there is nothing to do.
  next_billing_at timestamptz,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, reference),
  foreign key (platform_id, environment) references platforms,
  foreign key (platform_id, environment, customer_id) references customers,
  foreign key (platform_id, environment, billing_entity_id) references billing_entities,
  check (status <> 'CANCELLED' or cancelled_at is not null),
  check (status in ('DRAFT', 'ARCHIVED') or activated_at is not null)
);
create index pricing_plan_subscriptions_customer on pricing_plan_subscriptions (platform_id, environment, customer_id);
create index pricing_plan_subscriptions_entity on pricing_plan_subscriptions (platform_id, environment, billing_entity_id);
create index pricing_plan_subscriptions_due on pricing_plan_subscriptions (next_billing_at) where next_billing_at is not null;
create index pricing_plan_subscriptions_cancelling on pricing_plan_subscriptions (cancelled_at) where status = 'ACTIVE' and cancelled_at is not null;
call protect_tenant_table('pricing_plan_subscriptions');

-- The billing run looks for what is due across tenants, and sees of a subscription only that.
create policy millrace_worker_select on pricing_plan_subscriptions for select to millrace_worker using (true);
grant select (platform_id, environment, id, status, cancelled_at, next_billing_at) on pricing_plan_subscriptions to millrace_worker;

create table pricing_plan_schedules (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  pricing_plan_subscription_id text not null,
  type text not null check (type in ('DEFAULT')),
  status text not null check (status in ('DRAFT', 'ACTIVE')),
  pricing_plan_id text not null,
  pricing_plan_version_id text not null,
  start_at timestamptz not null,
  end_at timestamptz,
  pricing_currency text not null,
  billing_period jsonb,
  primary key (platform_id, environment, id),
  foreign key (platform_id, environment) references platforms,
  foreign key (platform_id, environment, pricing_plan_subscription_id) references pricing_plan_subscriptions,
  foreign key (platform_id, environment, pricing_plan_id) references pricing_plans,
  foreign key (platform_id, environment, pricing_plan_version_id) references pricing_plan_versions,
  check (end_at is null or start_at < end_at),
  -- Deferred, so that the boundary between two schedules can move in two statements.
  exclude using gist (
    platform_id with =, environment with =, pricing_plan_subscription_id with =, tstzrange(start_at, end_at) with &&
  ) deferrable initially deferred
);
create index pricing_plan_schedules_version on pricing_plan_schedules (platform_id, environment, pricing_plan_version_id);
create index pricing_plan_schedules_plan on pricing_plan_schedules (platform_id, environment, pricing_plan_id);
call protect_tenant_table('pricing_plan_schedules');

-- A page of the trail is read in the order of the changes; a change is in it once.
create unique index audit_records_position on audit_records (platform_id, environment, position);

-- Alert rules say what to look out for; an alert is what was found, once, and never changes.

create table alert_rules (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  reference text not null,
  name text,
  description text,
  status text not null check (status in ('DRAFT', 'ACTIVE', 'DEPRECATED', 'ARCHIVED')),
  -- Whom the rule looks at; everybody when it names nobody.
  customer_ids text[] not null,
  type text not null check (type in ('ENTITLEMENT', 'INVOICE')),
  trigger_type text not null check (trigger_type in ('STATIC', 'DYNAMIC')),
  entitlement jsonb,
  invoice jsonb,
  -- A feature that is watched cannot be deleted.
  feature_id text generated always as (entitlement ->> 'feature_id') stored,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, reference),
  foreign key (platform_id, environment) references platforms,
  foreign key (platform_id, environment, feature_id) references features,
  check ((type = 'ENTITLEMENT') = (entitlement is not null)),
  check ((type = 'INVOICE') = (invoice is not null))
);
create index alert_rules_active on alert_rules (platform_id, environment, type) where status = 'ACTIVE';
call protect_tenant_table('alert_rules');
-- A worker looks for the tenants that have rules.
call allow_system('alert_rules', 'millrace_worker', array['select']);

create table alerts (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  alert_rule_id text not null,
  customer_id text not null,
  type text not null check (type in ('ENTITLEMENT', 'INVOICE')),
  -- What set the rule off: the same thing sets the same rule off once, whoever finds it and however many at once.
  data_trigger_reference text,
  alert_data jsonb not null,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, alert_rule_id, data_trigger_reference),
  foreign key (platform_id, environment, alert_rule_id) references alert_rules,
  foreign key (platform_id, environment, customer_id) references customers
);
create index alerts_customer on alerts (platform_id, environment, customer_id, created_at);
create index alerts_created on alerts (platform_id, environment, created_at);
call protect_tenant_table('alerts');
revoke update, delete on alerts from millrace_app; -- append-only

create index invoices_unpaid on invoices (platform_id, environment, due_date) where status = 'FINAL' and payment_status = 'UNPAID';

-- How far the look at what is used has come in a tenant. A look that is cut short goes on where it was.
create table alert_looks (
  platform_id text not null,
  environment environment not null,
  -- The last subscription that was looked at; null: the next look begins anew.
  resume_after text,
  started_at timestamptz not null,
  -- When the last look began that came to its end: what was there by then has been held against every rule.
  seen_until timestamptz,
  primary key (platform_id, environment),
  foreign key (platform_id, environment) references platforms
);
call protect_tenant_table('alert_looks');
call allow_system('alert_looks', 'millrace_worker', array['select']);

-- What was last held against the rules of a subscription, so that it is read again only when something may have changed.
create table alert_watches (
  platform_id text not null,
  environment environment not null,
  pricing_plan_subscription_id text not null,
  looked_at timestamptz not null,
  -- Hash of the rules, what is granted, and the periods.
  fingerprint text not null,
  -- By partition of the log: up to there events were counted.
  positions bigint[] not null,
  primary key (platform_id, environment, pricing_plan_subscription_id),
  foreign key (platform_id, environment, pricing_plan_subscription_id) references pricing_plan_subscriptions on delete cascade
);
call protect_tenant_table('alert_watches');

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

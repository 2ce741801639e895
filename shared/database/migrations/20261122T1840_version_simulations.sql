-- Simulations: the closed periods of the customers on a plan, rated by another version of it.

create table pricing_plan_version_simulations (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  pricing_plan_id text not null,
  -- Null for a version that only a catalog file has; `catalog_reference` then names it.
  pricing_plan_version_id text,
  catalog_reference text,
  periods integer not null check (periods between 1 and 12),
  -- Percentages.
  max_revenue_change numeric check (max_revenue_change >= 0),
  max_customer_increase numeric check (max_customer_increase >= 0),
  status text not null check (status in ('SCHEDULED', 'IN_PROGRESS', 'DONE', 'FAILED', 'CANCELLED', 'ERROR')),
  percentage integer not null check (percentage between 0 and 100),
  message text,
  -- What it found, once it is DONE or FAILED.
  result jsonb,
  -- The same for the same question, so that planning a catalog file again finds its simulation.
  fingerprint text not null,
  -- What the version sells when the simulation is created: a DRAFT may change while it runs.
  catalog text not null,
  finished_at timestamptz,
  primary key (platform_id, environment, id),
  foreign key (platform_id, environment) references platforms,
  foreign key (platform_id, environment, pricing_plan_id) references pricing_plans on delete cascade,
  foreign key (platform_id, environment, pricing_plan_version_id) references pricing_plan_versions on delete cascade,
  check ((finished_at is not null) = (status in ('DONE', 'FAILED', 'CANCELLED', 'ERROR')))
);
create index version_simulations_by_fingerprint on pricing_plan_version_simulations (platform_id, environment, fingerprint);
create index version_simulations_by_plan on pricing_plan_version_simulations (platform_id, environment, pricing_plan_id);
create index version_simulations_by_version on pricing_plan_version_simulations (platform_id, environment, pricing_plan_version_id);
create index version_simulations_unfinished on pricing_plan_version_simulations (updated_at) where finished_at is null;
call protect_tenant_table('pricing_plan_version_simulations');
-- A worker looks for those whose run was killed.
call allow_system('pricing_plan_version_simulations', 'millrace_worker', array['select']);

-- The customers of one simulation, so that a run that was killed continues where it was.
create table simulated_customers (
  platform_id text not null,
  environment environment not null,
  id text not null,
  simulation_id text not null,
  customer_id text not null,
  currency text not null,
  invoice_ids jsonb not null,
  status text not null check (status in ('SCHEDULED', 'DONE', 'ERROR')),
  outcome text check (outcome in ('WINNER', 'LOSER', 'UNCHANGED')),
  amount numeric,
  simulated_amount numeric,
  difference numeric,
  message text,
  invoices jsonb,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, simulation_id, customer_id, currency),
  foreign key (platform_id, environment, simulation_id) references pricing_plan_version_simulations on delete cascade,
  foreign key (platform_id, environment, customer_id) references customers on delete cascade,
  check ((status = 'DONE') = (outcome is not null))
);
create index simulated_customers_waiting on simulated_customers (platform_id, environment, simulation_id) where status = 'SCHEDULED';
create index simulated_customers_by_difference on simulated_customers (platform_id, environment, simulation_id, difference, id);
create index simulated_customers_by_customer on simulated_customers (platform_id, environment, customer_id);
call protect_tenant_table('simulated_customers');

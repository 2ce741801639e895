-- Test clocks: the time in which customers of the TEST environment live. What is due of them is done by `advance`, and by no job that
-- goes by the time of the day.
create table test_clocks (
  platform_id text not null,
  environment environment not null check (environment = 'TEST'),
  id text not null,
  created_at timestamptz not null,
  name text,
  frozen_time timestamptz not null,
  -- Real time: an advance that has not moved on until then has stopped, and another may go on from where it was.
  advancing_until timestamptz,
  primary key (platform_id, environment, id),
  foreign key (platform_id, environment) references platforms
);
call protect_tenant_table('test_clocks');

create table test_clock_customers (
  platform_id text not null,
  environment environment not null,
  customer_id text not null,
  test_clock_id text not null,
  primary key (platform_id, environment, customer_id),
  foreign key (platform_id, environment, customer_id) references customers on delete cascade,
  foreign key (platform_id, environment, test_clock_id) references test_clocks
);
create index test_clock_customers_clock on test_clock_customers (platform_id, environment, test_clock_id);
call protect_tenant_table('test_clock_customers');

-- The worker's search for what is due leaves them out.
call allow_system('test_clock_customers', 'millrace_worker', array['select']);
grant select (customer_id) on pricing_plan_subscriptions to millrace_worker;

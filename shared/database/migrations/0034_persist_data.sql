-- States that were told: what a calculation with persist had come to at a moment, instead of what all events since the
-- schedule's start come to. Of several for one price and one moment the last one holds; the others stay as history.
create table persist_data (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  -- The order in which they were told: those of one subscription queue for its lock.
  seq bigint generated always as identity,
  reference text not null,
  customer_id text not null,
  pricing_plan_subscription_id text not null,
  pricing_plan_schedule_id text not null,
  pricing_id text not null,
  pricing_item_id text not null,
  pricing_item_config_id text not null,
  -- From when on the state holds, and, where the sender named a whole period, the end of that.
  start_at timestamptz not null,
  end_at timestamptz,
  persist_usage numeric not null,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, reference),
  foreign key (platform_id, environment, customer_id) references customers,
  foreign key (platform_id, environment, pricing_plan_subscription_id) references pricing_plan_subscriptions,
  foreign key (platform_id, environment, pricing_plan_schedule_id) references pricing_plan_schedules,
  foreign key (platform_id, environment, pricing_id) references pricings,
  check (start_at < end_at)
);
create index persist_data_subscription on persist_data
  (platform_id, environment, pricing_plan_subscription_id, pricing_plan_schedule_id, pricing_item_config_id, start_at, seq);
call protect_tenant_table('persist_data');
revoke update, delete on persist_data from millrace_app;

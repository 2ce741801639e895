-- Who occupies which seat of a subscription, and for how long (contract: Seat assignment).
create table seat_assignments (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  pricing_plan_subscription_id text not null,
  product_item_id text not null,
  customer_id text not null,
  start_at timestamptz not null,
  end_at timestamptz,
  primary key (platform_id, environment, id),
  foreign key (platform_id, environment) references platforms,
  foreign key (platform_id, environment, pricing_plan_subscription_id) references pricing_plan_subscriptions,
  foreign key (platform_id, environment, product_item_id) references product_items,
  foreign key (platform_id, environment, customer_id) references customers,
  check (end_at is null or start_at < end_at),
  -- A customer has one seat of a kind at a time.
  exclude using gist (
    platform_id with =, environment with =, pricing_plan_subscription_id with =, product_item_id with =, customer_id with =,
    tstzrange(start_at, end_at) with &&
  )
);
create index seat_assignments_customer on seat_assignments (platform_id, environment, customer_id);
create index seat_assignments_item on seat_assignments (platform_id, environment, product_item_id);
create index seat_assignments_created on seat_assignments (platform_id, environment, created_at, id);
call protect_tenant_table('seat_assignments');

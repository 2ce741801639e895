-- Coupons, the codes by which customers redeem them, and who redeemed which (semantics 2).

create table coupons (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  reference text not null,
  status text not null check (status in ('DRAFT', 'ACTIVE', 'INACTIVE', 'DEPRECATED', 'ARCHIVED')),
  name text not null,
  description text,
  discount jsonb not null,
  duration jsonb not null,
  limited_to jsonb,
  start_at timestamptz,
  end_at timestamptz,
  maximum_redemptions integer check (maximum_redemptions > 0),
  primary key (platform_id, environment, id),
  unique (platform_id, environment, reference),
  foreign key (platform_id, environment) references platforms
);
call protect_tenant_table('coupons');

create table promotion_codes (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  coupon_id text not null,
  status text not null check (status in ('DRAFT', 'ACTIVE', 'INACTIVE', 'DEPRECATED', 'ARCHIVED')),
  code text not null,
  code_format text,
  limited_to jsonb,
  start_at timestamptz,
  end_at timestamptz,
  maximum_redemptions integer check (maximum_redemptions > 0),
  primary key (platform_id, environment, id),
  foreign key (platform_id, environment) references platforms,
  foreign key (platform_id, environment, coupon_id) references coupons
);
-- A code is the same in capitals.
create unique index promotion_codes_platform_id_environment_code_key
  on promotion_codes (platform_id, environment, upper(code));
create index promotion_codes_coupon on promotion_codes (platform_id, environment, coupon_id);
call protect_tenant_table('promotion_codes');

create table coupon_redemptions (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  coupon_id text not null,
  promotion_code_id text,
  code text,
  customer_id text not null,
  pricing_plan_subscription_id text not null,
  redeemed_at timestamptz not null,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, coupon_id, pricing_plan_subscription_id),
  foreign key (platform_id, environment) references platforms,
  foreign key (platform_id, environment, coupon_id) references coupons,
  foreign key (platform_id, environment, promotion_code_id) references promotion_codes,
  foreign key (platform_id, environment, customer_id) references customers,
  foreign key (platform_id, environment, pricing_plan_subscription_id) references pricing_plan_subscriptions
);
create index coupon_redemptions_code on coupon_redemptions (platform_id, environment, promotion_code_id);
create index coupon_redemptions_subscription on coupon_redemptions (platform_id, environment, pricing_plan_subscription_id);
call protect_tenant_table('coupon_redemptions');

-- Which coupons a schedule has, as it was told and as they were when they were redeemed.
alter table pricing_plan_schedules
  add column coupon_ids text[] not null default '{}',
  add column promotion_codes text[] not null default '{}',
  add column applied_coupons jsonb not null default '[]';

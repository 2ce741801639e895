-- What is bought for a wallet by itself when little is left in it.
create table auto_top_up_configs (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  status text not null check (status in ('DRAFT', 'ACTIVE', 'INACTIVE')),
  wallet_id text not null,
  pricing_plan_schedule_id text not null,
  pricing_item_id text not null,
  threshold jsonb not null,
  -- The quantity of the threshold, in the unit of the wallet.
  threshold_quantity numeric not null check (threshold_quantity > 0),
  topup_amount jsonb,
  units jsonb,
  -- The invoice of the last top-up: until it is paid there is no other.
  last_invoice_id text,
  -- Since the last top-up.
  failed_attempts integer not null check (failed_attempts >= 0),
  last_failure text,
  -- Not before; null: at once.
  next_attempt_at timestamptz,
  primary key (platform_id, environment, id),
  foreign key (platform_id, environment, wallet_id) references wallets,
  foreign key (platform_id, environment, pricing_plan_schedule_id) references pricing_plan_schedules,
  foreign key (platform_id, environment, last_invoice_id) references invoices
);
-- One in flight for each wallet.
create unique index auto_top_up_configs_platform_id_environment_wallet_id_key
  on auto_top_up_configs (platform_id, environment, wallet_id) where status = 'ACTIVE';
create index auto_top_up_configs_wallet on auto_top_up_configs (platform_id, environment, wallet_id);
create index auto_top_up_configs_schedule on auto_top_up_configs (platform_id, environment, pricing_plan_schedule_id);
create index auto_top_up_configs_created on auto_top_up_configs (platform_id, environment, created_at, id);
call protect_tenant_table('auto_top_up_configs');
revoke delete on auto_top_up_configs from millrace_app;
-- A worker looks for wallets that are low.
call allow_system('auto_top_up_configs', 'millrace_worker', array['select']);

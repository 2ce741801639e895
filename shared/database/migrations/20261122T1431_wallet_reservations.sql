-- Authorise and capture: part of a wallet held for a use that is about to happen, until it is committed, released, or its lease ends.
create table wallet_reservations (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  wallet_id text not null,
  reference text not null,
  quantity numeric not null check (quantity > 0),
  -- Which grants it is held of, in the order in which it spends them.
  parts jsonb not null,
  status text not null check (status in ('ACTIVE', 'COMMITTED', 'RELEASED', 'EXPIRED')),
  lease_until timestamptz not null,
  committed_quantity numeric check (committed_quantity > 0 and committed_quantity <= quantity),
  event_reference text,
  primary key (platform_id, environment, id),
  -- For ever: a reference reserves once, whatever became of it.
  unique (platform_id, environment, wallet_id, reference),
  foreign key (platform_id, environment, wallet_id) references wallets,
  check ((status = 'COMMITTED') = (committed_quantity is not null)),
  check (event_reference is null or status = 'COMMITTED')
) with (fillfactor = 80);
create index wallet_reservations_lease on wallet_reservations (platform_id, environment, wallet_id, lease_until) where status = 'ACTIVE';
create index wallet_reservations_ended on wallet_reservations (lease_until) where status = 'ACTIVE';
create index wallet_reservations_created on wallet_reservations (platform_id, environment, wallet_id, created_at, id);
call protect_tenant_table('wallet_reservations');
revoke delete on wallet_reservations from millrace_app;
call allow_system('wallet_reservations', 'millrace_worker', array['select']);

-- Wallets (contract: Wallet grants and balances, Wallet rules; semantics 6): what kinds there are, whose they are, what is granted
-- into them, and the ledger, of which every balance is a sum.

create table credit_types (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  reference text not null,
  status text not null check (status in ('DRAFT', 'ACTIVE', 'INACTIVE', 'DEPRECATED', 'ARCHIVED')),
  name text not null,
  description text,
  unit_name jsonb,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, reference),
  foreign key (platform_id, environment) references platforms
);
call protect_tenant_table('credit_types');

create table wallet_types (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  reference text not null,
  name text not null,
  status text not null check (status in ('DRAFT', 'ACTIVE', 'INACTIVE', 'DEPRECATED', 'ARCHIVED')),
  type text not null check (type in ('CREDIT', 'BALANCE')),
  credit jsonb,
  balance jsonb,
  credit_type_id text generated always as (credit -> 'credits_grant' ->> 'credit_type_id') stored,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, reference),
  foreign key (platform_id, environment) references platforms,
  foreign key (platform_id, environment, credit_type_id) references credit_types,
  check ((type = 'CREDIT') = (credit is not null)),
  check ((type = 'BALANCE') = (balance is not null))
);
call protect_tenant_table('wallet_types');

create table wallets (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  reference text not null,
  status text not null check (status in ('DRAFT', 'ACTIVE', 'INACTIVE', 'DEPRECATED', 'ARCHIVED')),
  wallet_type_id text not null,
  customer_id text not null,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, reference),
  foreign key (platform_id, environment, wallet_type_id) references wallet_types,
  foreign key (platform_id, environment, customer_id) references customers
);
create index wallets_customer on wallets (platform_id, environment, customer_id);
create index wallets_created on wallets (platform_id, environment, created_at, id);
-- A customer has one wallet of a type; one that is ARCHIVED makes room for another.
create unique index wallets_platform_id_environment_wallet_type_id_key
  on wallets (platform_id, environment, wallet_type_id, customer_id) where status <> 'ARCHIVED';
call protect_tenant_table('wallets');

create table wallet_grants (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  customer_id text not null,
  billing_entity_id text not null,
  wallet_id text not null,
  type text not null check (type in ('DEFAULT', 'PROMOTION')),
  description text,
  grant_amount jsonb,
  grant_credits jsonb,
  paid_amount jsonb,
  start_at timestamptz not null,
  expire_at timestamptz,
  source text not null,
  reverted_at timestamptz,
  revert_reason text check (revert_reason in ('INVOICE_VOIDED', 'SCHEDULE_DATES_CHANGED', 'SCHEDULE_DELETED', 'SUBSCRIPTION_CANCELLED',
    'SUBSCRIPTION_UPGRADED', 'SUBSCRIPTION_VOIDED', 'SUBSCRIPTION_CANCEL_UNDONE', 'WALLET_GRANT_REVERTED')),
  primary key (platform_id, environment, id),
  foreign key (platform_id, environment, customer_id) references customers,
  foreign key (platform_id, environment, billing_entity_id) references billing_entities,
  foreign key (platform_id, environment, wallet_id) references wallets,
  check ((grant_amount is null) <> (grant_credits is null)),
  check (expire_at > start_at),
  check ((reverted_at is null) = (revert_reason is null))
);
create index wallet_grants_wallet on wallet_grants (platform_id, environment, wallet_id, created_at, id);
create index wallet_grants_customer on wallet_grants (platform_id, environment, customer_id, created_at, id);
create index wallet_grants_created on wallet_grants (platform_id, environment, created_at, id);
call protect_tenant_table('wallet_grants');
revoke delete on wallet_grants from millrace_app;

-- The accounts of each grant, as its entries add up to: FUNDING is what was granted, below zero. A grant is one row, so whatever is
-- posted leaves the sum over its accounts at zero or is refused, and so does any number of commits.
create table wallet_grant_accounts (
  platform_id text not null,
  environment environment not null,
  grant_id text not null,
  wallet_id text not null,
  type text not null,
  start_at timestamptz not null,
  expire_at timestamptz,
  funding numeric not null default 0 check (funding <= 0),
  open numeric not null default 0 check (open >= 0),
  reserved numeric not null default 0 check (reserved >= 0),
  spent numeric not null default 0 check (spent >= 0),
  expired numeric not null default 0 check (expired >= 0),
  reverted numeric not null default 0 check (reverted >= 0),
  primary key (platform_id, environment, grant_id),
  foreign key (platform_id, environment, grant_id) references wallet_grants,
  constraint accounts_sum_to_zero check (funding + open + reserved + spent + expired + reverted = 0)
) with (fillfactor = 70);
-- What a wallet may still spend; what is used up leaves the index.
create index wallet_grant_accounts_live on wallet_grant_accounts (platform_id, environment, wallet_id) where open > 0 or reserved > 0;
create index wallet_grant_accounts_wallet on wallet_grant_accounts (platform_id, environment, wallet_id);
create index wallet_grant_accounts_expiring on wallet_grant_accounts (expire_at) where open > 0 and expire_at is not null;
call protect_tenant_table('wallet_grant_accounts');
revoke delete on wallet_grant_accounts from millrace_app;
call allow_system('wallet_grant_accounts', 'millrace_worker', array['select']);

-- Append-only. Each row is both sides of an entry: `quantity` leaves `debit_account` and arrives in `credit_account` of the grant.
create table wallet_entries (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  wallet_id text not null,
  grant_id text not null,
  type text not null,
  debit_account text not null,
  credit_account text not null,
  quantity numeric not null check (quantity > 0),
  effective_at timestamptz not null, -- from when a balance counts it
  cause_type text not null check (cause_type in ('REQUEST', 'EXPIRY', 'RESERVATION', 'INVOICE', 'CHARGE', 'SEAT_ASSIGNMENT')),
  cause_id text,
  reason text,
  actor_id text,
  request_id text,
  primary key (platform_id, environment, id),
  foreign key (platform_id, environment, grant_id) references wallet_grants,
  constraint entry_has_its_accounts check ((type, debit_account, credit_account) in (
    ('GRANTED', 'FUNDING', 'OPEN'),
    ('RESERVED', 'OPEN', 'RESERVED'),
    ('RELEASED', 'RESERVED', 'OPEN'),
    ('SPENT', 'RESERVED', 'SPENT'),
    ('EXPIRED', 'OPEN', 'EXPIRED'),
    ('REVERTED', 'OPEN', 'REVERTED'),
    -- An invoice for a time before the expiry may spend what was left then; a FINAL one may be taken back.
    ('RELEASED', 'EXPIRED', 'OPEN'),
    ('RELEASED', 'SPENT', 'OPEN')))
);
create index wallet_entries_wallet on wallet_entries (platform_id, environment, wallet_id, created_at, id);
create index wallet_entries_cause on wallet_entries (platform_id, environment, cause_id, grant_id) where cause_id is not null;
create index wallet_entries_grant on wallet_entries (platform_id, environment, grant_id);
call protect_tenant_table('wallet_entries');
revoke update, delete on wallet_entries from millrace_app;

create function refuse_entry_change() returns trigger language plpgsql as $$
begin
  raise exception 'entries of wallets are never changed; post another one' using errcode = 'restrict_violation';
end $$;
create trigger wallet_entries_stay before update or delete on wallet_entries for each row execute function refuse_entry_change();

-- The accounts follow the entries, and nothing else moves them.
create function post_wallet_entries() returns trigger language plpgsql as $$
begin
  update wallet_grant_accounts a set
    funding = a.funding + m.funding, open = a.open + m.open, reserved = a.reserved + m.reserved,
    spent = a.spent + m.spent, expired = a.expired + m.expired, reverted = a.reverted + m.reverted
  from (
    select platform_id, environment, grant_id,
      coalesce(sum(moved) filter (where account = 'FUNDING'), 0) as funding,
      coalesce(sum(moved) filter (where account = 'OPEN'), 0) as open,
      coalesce(sum(moved) filter (where account = 'RESERVED'), 0) as reserved,
      coalesce(sum(moved) filter (where account = 'SPENT'), 0) as spent,
      coalesce(sum(moved) filter (where account = 'EXPIRED'), 0) as expired,
      coalesce(sum(moved) filter (where account = 'REVERTED'), 0) as reverted
    from (
      select platform_id, environment, grant_id, credit_account as account, quantity as moved from posted
      union all
      select platform_id, environment, grant_id, debit_account, -quantity from posted
    ) as both_sides
    group by platform_id, environment, grant_id
  ) as m
  where a.platform_id = m.platform_id and a.environment = m.environment and a.grant_id = m.grant_id;
  return null;
end $$;
create trigger wallet_entries_post after insert on wallet_entries referencing new table as posted
  for each statement execute function post_wallet_entries();

create function refuse_account_change() returns trigger language plpgsql as $$
begin
  if pg_trigger_depth() < 2 then
    raise exception 'the accounts of a grant follow its entries; post one' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger wallet_grant_accounts_follow before update on wallet_grant_accounts
  for each row execute function refuse_account_change();
create function refuse_first_balance() returns trigger language plpgsql as $$
begin
  if (new.funding, new.open, new.reserved, new.spent, new.expired, new.reverted) <> (0, 0, 0, 0, 0, 0) then
    raise exception 'the accounts of a grant begin at zero; post an entry' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger wallet_grant_accounts_begin before insert on wallet_grant_accounts
  for each row execute function refuse_first_balance();

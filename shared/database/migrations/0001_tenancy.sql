-- Roles. The owner migrates and never serves; every process takes on the least of these (security section 7).
do $$
declare role_name text;
begin
  foreach role_name in array array['millrace_app', 'millrace_gateway', 'millrace_worker'] loop
    begin
      execute format('create role %I nologin nobypassrls', role_name);
    exception when duplicate_object or unique_violation then null; -- roles belong to the cluster; another database made it
    end;
    if not pg_has_role(current_user, role_name, 'member') then
      execute format('grant %I to current_user', role_name);
    end if;
  end loop;
end $$;

create extension if not exists btree_gist;

grant usage on schema public to millrace_app, millrace_gateway, millrace_worker;

-- The tenant of this transaction. Empty after commit, hence nullif; wrapped in a sub-select by the policies so that it is
-- evaluated once a query.
create function current_platform() returns text language sql stable as $$ select nullif(current_setting('app.platform_id', true), '') $$;
create function current_environment() returns text language sql stable as $$ select nullif(current_setting('app.environment', true), '') $$;

create domain environment as text check (value in ('TEST', 'LIVE'));

-- Puts a table under tenant isolation: forced row-level security for the api, nothing for anybody else.
create procedure protect_tenant_table(target regclass) language plpgsql as $$
begin
  execute format('alter table %s enable row level security', target);
  execute format('alter table %s force row level security', target);
  execute format(
    'create policy tenant on %s to millrace_app
       using (platform_id = (select current_platform()) and environment = (select current_environment()))
       with check (platform_id = (select current_platform()) and environment = (select current_environment()))', target);
  execute format('grant select, insert, update, delete on %s to millrace_app', target);
end $$;

-- Lets one of the named system roles see a protected table across tenants, for the given commands only.
create procedure allow_system(target regclass, role_name text, commands text[]) language plpgsql as $$
declare command text;
begin
  foreach command in array commands loop
    execute format('create policy %I on %s for %s to %I %s', role_name || '_' || command, target, command, role_name,
      case command when 'insert' then 'with check (true)' else 'using (true)' end);
    execute format('grant %s on %s to %I', command, target, role_name);
  end loop;
end $$;

-- Tells the processes that keep a copy in memory (keys, meters, limits) that a table changed.
create function notify_change() returns trigger language plpgsql as $$
begin
  perform pg_notify('millrace_changes', tg_table_name);
  return null;
end $$;

create table platforms (
  platform_id text not null,
  environment environment not null,
  id text not null generated always as (platform_id) stored, -- the resource's id; a platform has the same one in TEST and LIVE
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  reference text,
  name text not null,
  description text,
  status text not null default 'ACTIVE',
  timezone text not null default 'UTC',
  default_billing_entity_id text,
  default_product_tax_category text not null default 'STANDARD',
  default_pricing_currency text,
  invoice_settings jsonb not null default '{}',
  rounding_settings jsonb not null default '[]',
  primary key (platform_id, environment)
);
call protect_tenant_table('platforms');
call allow_system('platforms', 'millrace_worker', array['select']);
call allow_system('platforms', 'millrace_gateway', array['select']);
create trigger platforms_changed after insert or update or delete on platforms for each statement execute function notify_change();

create table api_keys (
  platform_id text not null,
  environment environment not null,
  id text not null,
  key_id text not null unique, -- chosen by us at random, shared by nobody: reveals nothing across tenants
  sha256 text not null unique,
  display_prefix text not null,
  last_four text not null,
  type text not null default 'STANDARD' check (type in ('STANDARD')),
  role_type text not null default 'ADMINISTRATOR' check (role_type in ('ADMINISTRATOR', 'READ_ONLY')),
  description text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default clock_timestamp(),
  revoked_at timestamptz,
  primary key (platform_id, environment, id),
  foreign key (platform_id, environment) references platforms
);
call protect_tenant_table('api_keys');
call allow_system('api_keys', 'millrace_gateway', array['select']);
create trigger api_keys_changed after insert or update or delete on api_keys for each statement execute function notify_change();

-- The console's users. Sign-in, memberships and roles belong to the identity host.
create table users (
  id text primary key,
  username text not null unique,
  password_hash text not null,
  created_at timestamptz not null default now()
);

-- Every change and its notice commit together. `position` is given by the relay, in commit order, and is what consumers follow.
create table outbox (
  platform_id text not null,
  environment environment not null,
  id text not null,
  seq bigint generated always as identity,
  xid xid8 not null default pg_current_xact_id(),
  position bigint,
  type text not null,
  object_type text not null,
  object_id text not null,
  data jsonb not null,
  previous_data jsonb,
  request_id text,
  actor_id text,
  idempotency_key text,
  created_at timestamptz not null,
  primary key (platform_id, environment, id)
);
create index outbox_unsequenced on outbox (seq) where position is null;
create unique index outbox_position on outbox (position) where position is not null;
call protect_tenant_table('outbox');
call allow_system('outbox', 'millrace_worker', array['select', 'update']);
create sequence outbox_positions;
grant usage on sequence outbox_positions to millrace_worker;

create table audit_records (
  platform_id text not null,
  environment environment not null,
  id text not null,
  position bigint not null,
  user_id text,
  target_resource_type text not null,
  target_id text not null,
  action text not null,
  message text not null,
  changed_fields text[] not null default '{}',
  request_id text,
  idempotency_key text,
  created_at timestamptz not null,
  primary key (platform_id, environment, id)
);
create index audit_records_target on audit_records (platform_id, environment, target_id);
call protect_tenant_table('audit_records');
revoke update, delete on audit_records from millrace_app; -- append-only
revoke insert on audit_records from millrace_app;
call allow_system('audit_records', 'millrace_worker', array['insert']);

create table idempotency_keys (
  platform_id text not null,
  environment environment not null,
  key text not null,
  method text not null,
  path text not null,
  request_hash text not null,
  response_status integer not null,
  response_body text not null,
  created_at timestamptz not null default now(),
  primary key (platform_id, environment, method, path, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);
call protect_tenant_table('idempotency_keys');
call allow_system('idempotency_keys', 'millrace_worker', array['select', 'delete']);

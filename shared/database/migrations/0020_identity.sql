-- Users, what each may do where, and their sessions. A user belongs to nobody: one person may be a member of several
-- platforms, and a platform sees of a user only what its own membership shows. Everything that expires is judged by the
-- database's clock, never by a process's.

do $$
begin
  begin
    create role millrace_identity nologin nobypassrls;
  exception when duplicate_object or unique_violation then null; -- roles belong to the cluster; another database made it
  end;
  if not pg_has_role(current_user, 'millrace_identity', 'member') then
    grant millrace_identity to current_user;
  end if;
end $$;
grant usage on schema public to millrace_identity;

-- The time by which sessions, codes, requests and tokens expire. A test replaces it to move the time on.
create function identity_now() returns timestamptz language sql volatile as $$ select clock_timestamp() $$;

alter table users
  alter column password_hash drop not null, -- an invited user has none yet
  add column status text not null default 'ACTIVE' check (status in ('INVITED', 'INVITE_REVOKED', 'ACTIVE', 'INACTIVE')),
  add column updated_at timestamptz not null default now(),
  add constraint users_username_canonical check (username = lower(btrim(username))),
  add constraint users_active_has_password check (status <> 'ACTIVE' or password_hash is not null);
grant select, insert, update on users to millrace_identity;
create trigger users_changed after insert or update or delete on users for each statement execute function notify_change();

-- A named set of permissions of one tenant. Its children's permissions are its own too; the built-in roles are not rows.
create table roles (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  name text not null,
  description text,
  permissions text[] not null default '{}',
  child_role_ids text[] not null default '{}',
  primary key (platform_id, environment, id),
  unique (platform_id, environment, name),
  foreign key (platform_id, environment) references platforms
);
call protect_tenant_table('roles');
call allow_system('roles', 'millrace_identity', array['select']);
call allow_system('roles', 'millrace_gateway', array['select']);
create trigger roles_changed after insert or update or delete on roles for each statement execute function notify_change();

-- What a user may do in one platform and environment. Removing the row takes effect within seconds, tokens included.
create table user_memberships (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  user_id text not null references users (id),
  role_ids text[] not null default '{}',
  primary key (platform_id, environment, id),
  unique (platform_id, environment, user_id),
  foreign key (platform_id, environment) references platforms
);
create index user_memberships_user on user_memberships (user_id);
call protect_tenant_table('user_memberships');
call allow_system('user_memberships', 'millrace_identity', array['select', 'insert', 'update', 'delete']);
call allow_system('user_memberships', 'millrace_gateway', array['select']);
create trigger user_memberships_changed after insert or update or delete on user_memberships for each statement execute function notify_change();

-- A tenant sees the users who are its members, and of them nothing secret.
alter table users enable row level security;
create policy members on users for select to millrace_app using (
  exists (select from user_memberships m where m.user_id = users.id
    and m.platform_id = (select current_platform()) and m.environment = (select current_environment())));
create policy identity on users to millrace_identity using (true) with check (true);
create policy live_members on users for select to millrace_gateway using (true);
grant select (id, username, status, created_at, updated_at) on users to millrace_app, millrace_gateway;

call allow_system('platforms', 'millrace_identity', array['select']);

-- A signed-in browser. The cookie's value is stored nowhere, only its SHA-256.
create table sessions (
  id text primary key,
  token_sha256 text not null unique,
  user_id text not null references users (id),
  created_at timestamptz not null default identity_now(),
  last_seen_at timestamptz not null default identity_now(),
  -- When the user last proved who they are; acts that matter ask for a recent one.
  authenticated_at timestamptz not null default identity_now(),
  expires_at timestamptz not null,
  ended_at timestamptz
);
create index sessions_user on sessions (user_id) where ended_at is null;
grant select, insert, update, delete on sessions to millrace_identity;

-- Accounts of a tenant: who was asked in, who belongs to it, and the teams through which roles come too. A person is one row
-- in `users`, whatever tenants they belong to; what one tenant does to its membership is never seen or felt in another.

-- INVITED until the person accepts, INACTIVE while the tenant's administrators have switched them off. Only ACTIVE ones count.
alter table user_memberships
  add column status text not null default 'ACTIVE' check (status in ('INVITED', 'INVITE_REVOKED', 'ACTIVE', 'INACTIVE'));

-- One mail to one person about one tenant. Pending while neither time is set; the identity host sends the link, and sets
-- `accepted_at` when the person has followed it: a new person by choosing a password, one with an account by signing in.
create table user_invitations (
  platform_id text not null,
  environment environment not null,
  id text not null,
  user_id text not null,
  -- The API key or the user who asked; null for the service itself.
  invited_by text,
  created_at timestamptz not null default identity_now(),
  updated_at timestamptz not null default identity_now(),
  revoked_at timestamptz,
  accepted_at timestamptz,
  primary key (platform_id, environment, id),
  foreign key (platform_id, environment, user_id) references user_memberships (platform_id, environment, user_id) on delete cascade,
  check (revoked_at is null or accepted_at is null)
);
create index user_invitations_user on user_invitations (user_id);
create index user_invitations_pending on user_invitations (created_at) where revoked_at is null and accepted_at is null;
call protect_tenant_table('user_invitations');
call allow_system('user_invitations', 'millrace_identity', array['select', 'update']);
create trigger user_invitations_changed after insert or update or delete on user_invitations for each statement execute function notify_change();

-- What the person accepted takes effect with it.
create function accept_invitation() returns trigger language plpgsql as $$
begin
  update user_memberships m set status = 'ACTIVE', updated_at = identity_now()
  where m.platform_id = new.platform_id and m.environment = new.environment and m.user_id = new.user_id and m.status = 'INVITED';
  return null;
end $$;
create trigger user_invitations_accepted after update of accepted_at on user_invitations for each row
  when (old.accepted_at is null and new.accepted_at is not null) execute function accept_invitation();

-- Members of a team have its roles besides their own, in [start_at, end_at).
create table teams (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  name text not null,
  role_ids text[] not null default '{}',
  primary key (platform_id, environment, id),
  unique (platform_id, environment, name),
  foreign key (platform_id, environment) references platforms
);
call protect_tenant_table('teams');
call allow_system('teams', 'millrace_identity', array['select']);
call allow_system('teams', 'millrace_gateway', array['select']);
create trigger teams_changed after insert or update or delete on teams for each statement execute function notify_change();

create table team_members (
  platform_id text not null,
  environment environment not null,
  team_id text not null,
  user_id text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  start_at timestamptz not null,
  end_at timestamptz,
  primary key (platform_id, environment, team_id, user_id),
  foreign key (platform_id, environment, team_id) references teams on delete cascade,
  foreign key (platform_id, environment, user_id) references user_memberships (platform_id, environment, user_id) on delete cascade,
  check (end_at is null or start_at < end_at)
);
create index team_members_user on team_members (user_id);
call protect_tenant_table('team_members');
call allow_system('team_members', 'millrace_identity', array['select']);
call allow_system('team_members', 'millrace_gateway', array['select']);
create trigger team_members_changed after insert or update or delete on team_members for each statement execute function notify_change();

-- The user of an e-mail address, made INVITED when there is none. The api may call this and not look into `users`: it learns
-- an id and not whether the person was there before, and the ids of users are random in every part, so they do not tell either.
create function find_or_invite_user(candidate_id text, candidate_username text) returns text
  language plpgsql security definer set search_path = pg_catalog, public as $$
begin
  insert into public.users (id, username, status) values (candidate_id, candidate_username, 'INVITED')
    on conflict (username) do nothing;
  return (select id from public.users where username = candidate_username);
end $$;
revoke execute on function find_or_invite_user(text, text) from public;
grant execute on function find_or_invite_user(text, text) to millrace_app;

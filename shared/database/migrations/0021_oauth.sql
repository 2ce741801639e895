-- The OAuth 2.0 authorization server: who may ask, what was asked, what was granted, and with which key tokens are signed.
-- Codes and tokens are stored as SHA-256 only; private keys are sealed with a secret that is not in the database.

create table oauth_signing_keys (
  kid text primary key,
  public_jwk jsonb not null,
  private_jwk_sealed text not null,
  created_at timestamptz not null default identity_now(),
  -- Published before it signs, so that whoever keeps a copy of the key set has it by then.
  signs_from timestamptz not null
);

create table oauth_clients (
  id text primary key,
  name text not null,
  redirect_uris text[] not null check (cardinality(redirect_uris) between 1 and 10),
  created_at timestamptz not null default identity_now(),
  last_used_at timestamptz
);

-- One visit to the authorization endpoint. It lives five minutes, for one browser and, from its first view, one user.
create table oauth_requests (
  id text primary key,
  client_id text not null references oauth_clients (id) on delete cascade,
  redirect_uri text not null,
  -- Whether the client named it; one that left it out leaves it out of the token call too.
  redirect_uri_given boolean not null,
  scopes text[] not null,
  state text,
  code_challenge text not null,
  resource text not null,
  browser_sha256 text not null,
  user_id text references users (id),
  status text not null default 'PENDING' check (status in ('PENDING', 'APPROVED', 'DENIED')),
  created_at timestamptz not null default identity_now(),
  expires_at timestamptz not null
);
create index oauth_requests_age on oauth_requests (expires_at);

-- What a user allowed a client, until either ends it. Every token belongs to one and dies with it.
create table oauth_grants (
  id text primary key,
  client_id text not null references oauth_clients (id),
  user_id text not null references users (id),
  scopes text[] not null,
  resource text not null,
  created_at timestamptz not null default identity_now(),
  expires_at timestamptz not null,
  last_used_at timestamptz,
  revoked_at timestamptz,
  revoke_reason text,
  check ((revoked_at is null) = (revoke_reason is null))
);
create index oauth_grants_user on oauth_grants (user_id);
create index oauth_grants_revoked on oauth_grants (revoked_at) where revoked_at is not null;
create trigger oauth_grants_changed after update on oauth_grants for each statement execute function notify_change();

-- The platforms and environments a grant reaches.
create table oauth_grant_platforms (
  platform_id text not null,
  environment environment not null,
  grant_id text not null references oauth_grants (id) on delete cascade,
  primary key (platform_id, environment, grant_id),
  foreign key (platform_id, environment) references platforms
);
create index oauth_grant_platforms_grant on oauth_grant_platforms (grant_id);

create table oauth_codes (
  code_sha256 text primary key,
  grant_id text not null unique references oauth_grants (id) on delete cascade,
  redirect_uri text not null,
  redirect_uri_given boolean not null,
  code_challenge text not null,
  wrong_tries integer not null default 0,
  expires_at timestamptz not null,
  used_at timestamptz
);

create table oauth_refresh_tokens (
  token_sha256 text primary key,
  grant_id text not null references oauth_grants (id) on delete cascade,
  created_at timestamptz not null default identity_now(),
  expires_at timestamptz not null,
  -- Set by its one rotation. The successor is kept sealed under the token itself, for a client that lost the answer.
  rotated_at timestamptz,
  successor_sha256 text,
  successor_sealed text,
  check ((rotated_at is null) = (successor_sha256 is null))
);
create index oauth_refresh_tokens_grant on oauth_refresh_tokens (grant_id);

grant select, insert, update, delete on oauth_signing_keys, oauth_clients, oauth_requests, oauth_grants, oauth_grant_platforms,
  oauth_codes, oauth_refresh_tokens to millrace_identity;
-- The api asks which grants are over, and nothing else.
grant select (id, revoked_at, expires_at) on oauth_grants to millrace_gateway;
-- What happens to a grant is in the audit trail of every tenant it reaches.
call allow_system('outbox', 'millrace_identity', array['insert']);

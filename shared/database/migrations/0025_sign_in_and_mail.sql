-- Sign-in limits, links that work once, and the mails that carry them. All of it belongs to people, who are of no tenant; only
-- the identity host sees it.

-- When a password was tried lately, by whom it was tried for: the SHA-256 of an e-mail as it was typed, known to us or not, or
-- of a browser that has signed in to it before.
create table sign_in_tries (
  key_sha256 text primary key,
  tries timestamptz[] not null default '{}',
  updated_at timestamptz not null default identity_now()
);

-- Links sent by mail. Only the SHA-256 of the secret in one is here.
create table one_time_links (
  token_sha256 text primary key,
  purpose text not null check (purpose in ('ACTIVATION', 'PASSWORD_RESET')),
  user_id text not null references users (id),
  -- The invitation that a link of activation stands for: it works as long as that does.
  platform_id text,
  environment environment,
  invitation_id text,
  created_at timestamptz not null default identity_now(),
  expires_at timestamptz not null,
  used_at timestamptz,
  check ((purpose = 'ACTIVATION') = (invitation_id is not null)),
  check ((invitation_id is null) = (platform_id is null) and (invitation_id is null) = (environment is null))
);
create index one_time_links_user on one_time_links (user_id);

-- Mails to send. A row says what to tell and to whom; its words and its link are made when it is sent, so that nothing secret
-- waits here and a mail that was late still carries a link that works.
create table identity_mails (
  id text primary key,
  kind text not null check (kind in ('INVITATION', 'PASSWORD_RESET', 'PASSWORD_CHANGED', 'TOKEN_REUSED')),
  -- Whom it is for. A reset is asked for by e-mail, and nobody looks whether there is such a user until it is sent.
  user_id text references users (id),
  email text,
  data jsonb not null default '{}',
  -- What it is about, where there is one mail and no second.
  about text unique,
  created_at timestamptz not null default identity_now(),
  tries integer not null default 0,
  next_try_at timestamptz not null default identity_now(),
  done_at timestamptz,
  outcome text check (outcome in ('SENT', 'NOBODY', 'OBSOLETE', 'GIVEN_UP')),
  check ((user_id is null) <> (email is null)),
  check ((done_at is null) = (outcome is null))
);
create index identity_mails_due on identity_mails (next_try_at) where done_at is null;
create index identity_mails_age on identity_mails (done_at) where done_at is not null;

grant select, insert, update, delete on sign_in_tries, one_time_links, identity_mails to millrace_identity;

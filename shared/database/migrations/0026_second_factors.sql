-- Second factors. They belong to people, who are of no tenant; only the identity host sees them.

-- The authenticator application of a user: one, and none that counts until a code from it was seen.
create table user_authenticators (
  user_id text primary key references users (id),
  -- The shared secret, sealed under a key that is not in the database.
  secret_sealed text not null,
  created_at timestamptz not null default identity_now(),
  confirmed_at timestamptz,
  -- The 30 seconds of the last code that was taken: it and all before it are used up.
  last_step bigint not null default 0
);

create table user_passkeys (
  id text primary key,
  user_id text not null references users (id),
  credential_id text not null unique,
  public_key text not null,
  counter bigint not null,
  transports text[] not null default '{}',
  name text not null,
  created_at timestamptz not null default identity_now(),
  last_used_at timestamptz
);
create index user_passkeys_user on user_passkeys (user_id);

-- What a browser is to sign with a passkey, once, for the session or the half-done sign-in it was made for.
create table passkey_challenges (
  challenge text primary key,
  owner text not null,
  expires_at timestamptz not null
);

-- Ten codes for the day the telephone is lost. Hashed under a key that is not in the database: a code is short enough to be
-- written down, so its plain hash could be searched.
create table user_recovery_codes (
  user_id text not null references users (id),
  code_hash text not null,
  used_at timestamptz,
  primary key (user_id, code_hash)
);

-- A browser whose user gave the right password and still has to give a second factor. The cookie's value is stored nowhere.
create table pending_sign_ins (
  token_sha256 text primary key,
  user_id text not null references users (id),
  -- The authorization request that waits for it.
  request_id text,
  created_at timestamptz not null default identity_now(),
  expires_at timestamptz not null
);
create index pending_sign_ins_user on pending_sign_ins (user_id);

-- Proofs given by users who are already known by another: how many were wrong in a row, and until when the next one waits.
create table proof_tries (
  user_id text primary key references users (id),
  wrong integer not null,
  blocked_until timestamptz
);

-- Whoever's factors change is told so by mail.
alter table identity_mails drop constraint identity_mails_kind_check,
  add constraint identity_mails_kind_check
    check (kind in ('INVITATION', 'PASSWORD_RESET', 'PASSWORD_CHANGED', 'TOKEN_REUSED', 'FACTOR_CHANGED'));

grant select, insert, update, delete on user_authenticators, user_passkeys, passkey_challenges, user_recovery_codes,
  pending_sign_ins, proof_tries to millrace_identity;

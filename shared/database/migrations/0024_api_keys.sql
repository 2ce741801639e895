-- API keys as a tenant sees and manages them: who made one, whom a PROXY key may act for, and when it was last used.

alter table api_keys drop constraint api_keys_type_check, drop constraint api_keys_internal_check;
alter table api_keys
  add column created_by text,
  -- The users a PROXY key may act for, and nobody besides; what each may do is asked of their memberships at each call.
  add column original_user_ids text[] not null default '{}',
  add constraint api_keys_type_check check (type in ('STANDARD', 'PROXY', 'INTERNAL')),
  add constraint api_keys_internal_check check (
    (type = 'INTERNAL') = (role_type = 'INGEST') and (type <> 'INTERNAL' or expires_at is not null)),
  add constraint api_keys_original_users_check check (type = 'PROXY' or original_user_ids = '{}');

-- Apart from the keys, because every process that keeps them in memory follows changes of theirs, and a use is none.
create table api_key_uses (
  platform_id text not null,
  environment environment not null,
  api_key_id text not null,
  last_used_at timestamptz not null,
  primary key (platform_id, environment, api_key_id),
  foreign key (platform_id, environment, api_key_id) references api_keys on delete cascade
);
call protect_tenant_table('api_key_uses');
revoke insert, update, delete on api_key_uses from millrace_app;
call allow_system('api_key_uses', 'millrace_gateway', array['select', 'insert', 'update']);

-- The keys people made. Those a process makes for itself are not among them (docs/decisions/0010), and what is derived from
-- the text of a key is nobody's business. The rights of whoever asks hold, so that row-level security does.
create view tenant_api_keys with (security_invoker = true) as
  select platform_id, environment, id, created_at, updated_at, display_prefix, last_four, type, role_type, description,
    created_by, original_user_ids, revoked_at, revoked_at is null as active,
    (select u.last_used_at from api_key_uses u
      where u.platform_id = k.platform_id and u.environment = k.environment and u.api_key_id = k.id) as last_used_at
  from api_keys k where type <> 'INTERNAL'
  with check option;
grant select, update on tenant_api_keys to millrace_app;

-- Gateways and apis say in the audit trail that a key sent X-ORIGINAL-USER and was not heard.
call allow_system('outbox', 'millrace_gateway', array['insert']);

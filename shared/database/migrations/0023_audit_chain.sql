-- Who really acted, and a chain that shows when a record was changed, removed or put elsewhere. Each record of a tenant carries
-- the hash of the one before it; the head of the chain is kept apart, so that records missing at the end are seen too.

alter table outbox
  add column impersonated_user_id text, -- the user a PROXY key acted for
  add column credential_id text, -- the API key or the OAuth grant the call came with
  add column ip text;

alter table audit_records
  add column user_name text, -- as it was when the record was written: e-mail of a user, description of an API key
  add column impersonated_user_id text,
  add column impersonated_user_name text,
  add column credential_id text,
  add column ip text,
  add column sequence bigint,
  add column previous_hash text,
  add column hash text;

create table audit_chains (
  platform_id text not null,
  environment environment not null,
  sequence bigint not null,
  hash text not null,
  primary key (platform_id, environment)
);

-- The text a hash is taken of: each value as its length in bytes, a colon and itself, `-` for none, so that no two records
-- have the same. api/modules/audit/chain.ts writes the same text and is what new records and the verification use; this is
-- here for the records of before, and goes.
alter table audit_records no force row level security; -- the owner fills in every tenant's
create function audit_part(value text) returns text language sql immutable as
  $$ select coalesce(octet_length(convert_to(value, 'UTF8')) || ':' || value, '-') $$;
do $$
declare
  r record;
  here text := '';
  head text;
  place bigint;
begin
  for r in select * from audit_records order by platform_id, environment, position loop
    if here <> r.platform_id || ' ' || r.environment then
      here := r.platform_id || ' ' || r.environment;
      head := repeat('0', 64);
      place := 0;
    end if;
    place := place + 1;
    update audit_records a set sequence = place, previous_hash = head, hash = encode(sha256(convert_to(
        audit_part(head) || audit_part(r.platform_id) || audit_part(r.environment) || audit_part(place::text) || audit_part(r.id)
        || audit_part(r.position::text)
        || audit_part(to_char(r.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
        || audit_part(r.user_id) || audit_part(null) || audit_part(null) || audit_part(null) || audit_part(null) || audit_part(null)
        || audit_part(r.target_resource_type) || audit_part(r.target_id) || audit_part(r.action) || audit_part(r.message)
        || audit_part(cardinality(r.changed_fields)::text)
        || coalesce((select string_agg(audit_part(f), '' order by n) from unnest(r.changed_fields) with ordinality as u(f, n)), '')
        || audit_part(r.request_id) || audit_part(r.idempotency_key), 'UTF8')), 'hex')
      where a.platform_id = r.platform_id and a.environment = r.environment and a.id = r.id
      returning a.hash into head;
    insert into audit_chains values (r.platform_id, r.environment, place, head)
      on conflict (platform_id, environment) do update set sequence = excluded.sequence, hash = excluded.hash;
  end loop;
end $$;
drop function audit_part(text);
alter table audit_records force row level security;

call protect_tenant_table('audit_chains');
revoke insert, update, delete on audit_chains from millrace_app;
call allow_system('audit_chains', 'millrace_worker', array['select', 'insert', 'update']);

alter table audit_records
  alter column sequence set not null,
  alter column previous_hash set not null,
  alter column hash set not null,
  add unique (platform_id, environment, sequence);
-- The nightly verification reads what the relay wrote.
call allow_system('audit_records', 'millrace_worker', array['select']);

-- Whose name goes into a record.
create policy names on users for select to millrace_worker using (true);
grant select (id, username) on users to millrace_worker;
create policy names on api_keys for select to millrace_worker using (true);
grant select (platform_id, environment, id, description) on api_keys to millrace_worker;

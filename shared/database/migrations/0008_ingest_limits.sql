-- What a platform sets for its own ingestion, in TEST and LIVE apart; an empty object leaves the installation's defaults.
alter table platforms add column ingest_settings jsonb not null default '{}';
-- Gateways look every second for platforms with limits of their own, however many go without.
create index platforms_with_ingest_settings on platforms (platform_id, environment) where ingest_settings <> '{}';

-- Which transaction made or last changed a key. A reader that knows below which transaction it has seen everything
-- (pg_snapshot_xmin) asks for the rest, and neither clocks nor long transactions make it miss a revocation. A default and a
-- trigger set it, so that no writer can forget to.
alter table api_keys add column changed_xid xid8 not null default pg_current_xact_id();
create index api_keys_changed_xid on api_keys (changed_xid);
-- Counting the live keys tells a reader whether rows were deleted; two values make an index small enough to count in.
create index api_keys_live on api_keys (environment) where revoked_at is null;

create function note_changing_transaction() returns trigger language plpgsql as $$
begin
  new.changed_xid := pg_current_xact_id();
  return new;
end $$;
create trigger api_keys_changing before insert or update on api_keys for each row execute function note_changing_transaction();

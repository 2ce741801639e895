-- OAuth clients whose id is the https address of a document about them (client ID metadata documents). Their row is the last
-- document that was read and found right, kept until it has to be read again.
alter table oauth_clients
  add column document_read_at timestamptz,
  add column document_fresh_until timestamptz,
  -- What the server of the document calls this version, to ask whether there is a newer one.
  add column document_etag text,
  add check ((document_read_at is null) = (document_fresh_until is null)),
  add check ((document_read_at is null) = (id not like 'https://%')),
  drop constraint oauth_clients_redirect_uris_check,
  add constraint oauth_clients_redirect_uris_check check (cardinality(redirect_uris) between 1 and 50);
create index oauth_clients_document_age on oauth_clients (document_read_at) where document_read_at is not null;

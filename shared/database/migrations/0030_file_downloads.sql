-- Files whose content the worker fetches from an address. What follows the ? of the address is often a signature that opens it for
-- whoever has it, so it is kept apart from what is shown, and only until the file has its content or will never have it.
alter table files drop constraint files_status_check;
alter table files
  add column download_settings jsonb,
  add column download_query text,
  -- Attempts that failed, and when the next may begin, by the database's clock.
  add column download_attempts integer not null default 0,
  add column download_after timestamptz,
  add constraint files_status_check check (status in
    ('CREATED', 'TO_BE_DOWNLOADED', 'DOWNLOADING', 'DOWNLOADED', 'UPLOADED', 'IMPORTING', 'IMPORTED', 'TO_BE_PROCESSED',
     'PROCESSING', 'DONE', 'ERROR')),
  add constraint files_download_query_check check (download_query is null or status in ('TO_BE_DOWNLOADED', 'DOWNLOADING'));

drop index files_unfinished;
create index files_unfinished on files (platform_id, environment, created_at)
  where status in ('UPLOADED', 'DOWNLOADED', 'IMPORTING', 'IMPORTED', 'TO_BE_PROCESSED', 'PROCESSING');
create index files_to_download on files (platform_id, environment, created_at)
  where status in ('TO_BE_DOWNLOADED', 'DOWNLOADING');

grant select (download_after) on files to millrace_worker;

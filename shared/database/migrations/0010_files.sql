-- Uploads of usage as CSV. The bytes are kept in chunks, so that any worker can read any part of them; what became of each
-- line is kept in blocks of up to a thousand lines, which say where in the bytes their lines stand instead of repeating them.

create table file_processing_settings (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  reference text not null,
  type text not null check (type in ('METER_DATA')),
  meter_data jsonb not null,
  included_customers jsonb not null default '[]',
  excluded_customers jsonb not null default '[]',
  primary key (platform_id, environment, id),
  unique (platform_id, environment, reference),
  foreign key (platform_id, environment) references platforms
);
call protect_tenant_table('file_processing_settings');

create table files (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  reference text not null,
  file_name text not null,
  status text not null default 'CREATED' check (status in
    ('CREATED', 'UPLOADED', 'IMPORTING', 'IMPORTED', 'TO_BE_PROCESSED', 'PROCESSING', 'DONE', 'ERROR')),
  type text not null check (type in ('METER_DATA')),
  name text,
  description text,
  customer_id text,
  processing_type text not null check (processing_type in ('DEFAULT', 'SETTINGS')),
  file_processing_settings_id text,
  meter_data jsonb,
  content_type text not null default 'text/csv',
  column_headers text[],
  number_of_lines integer,
  message text,
  lines_imported integer not null default 0,
  lines_done integer not null default 0,
  lines_skipped integer not null default 0,
  lines_error integer not null default 0,
  -- The upload whose chunks are the content; a new one takes its place as long as the file is CREATED.
  upload_id text,
  upload_at timestamptz,
  content_bytes bigint not null default 0,
  -- The time of events that give none: the same however often a line is sent.
  processing_started_at timestamptz,
  -- The worker that has the file in hand, since when, and until when it may be silent. By the database's clock.
  worked_by text,
  worked_at timestamptz,
  worked_until timestamptz,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, reference),
  foreign key (platform_id, environment) references platforms,
  foreign key (platform_id, environment, customer_id) references customers,
  foreign key (platform_id, environment, file_processing_settings_id) references file_processing_settings
);
create index files_unfinished on files (platform_id, environment, created_at)
  where status in ('UPLOADED', 'IMPORTING', 'IMPORTED', 'TO_BE_PROCESSED', 'PROCESSING');
create index files_uploading on files (upload_at) where status = 'CREATED' and content_bytes > 0;
call protect_tenant_table('files');

-- The worker looks across tenants for files that wait, and sees of a file only that.
create policy millrace_worker_select on files for select to millrace_worker using (true);
grant select (platform_id, environment, id, status, worked_until, upload_at, content_bytes) on files to millrace_worker;

create table file_chunks (
  platform_id text not null,
  environment environment not null,
  file_id text not null,
  upload_id text not null,
  number integer not null,
  bytes bytea not null,
  primary key (platform_id, environment, file_id, upload_id, number),
  foreign key (platform_id, environment, file_id) references files
);
call protect_tenant_table('file_chunks');

create table file_line_blocks (
  platform_id text not null,
  environment environment not null,
  file_id text not null,
  number integer not null,
  first_line integer not null,
  lines integer not null,
  byte_start bigint not null,
  byte_end bigint not null,
  -- One letter a line: I(MPORTED), D(ONE), S(KIPPED), E(RROR). Messages by place in the block.
  statuses text not null check (length(statuses) = lines),
  messages jsonb not null default '{}',
  imported integer not null,
  done integer not null default 0,
  skipped integer not null default 0,
  error integer not null default 0,
  -- What is known without the gateway is settled; the lines still IMPORTED may have been sent.
  checked boolean not null default false,
  primary key (platform_id, environment, file_id, number),
  foreign key (platform_id, environment, file_id) references files,
  check (imported + done + skipped + error = lines)
);
create index file_line_blocks_open on file_line_blocks (platform_id, environment, file_id, number) where imported > 0;
call protect_tenant_table('file_line_blocks');

-- Keys the worker makes for itself to bring a file through the front door: for ingestion alone, and never for long.
alter table api_keys drop constraint api_keys_type_check, drop constraint api_keys_role_type_check;
alter table api_keys
  add column expires_at timestamptz,
  add constraint api_keys_type_check check (type in ('STANDARD', 'INTERNAL')),
  add constraint api_keys_role_type_check check (role_type in ('ADMINISTRATOR', 'READ_ONLY', 'INGEST')),
  add constraint api_keys_internal_check check ((type = 'INTERNAL') = (role_type = 'INGEST') and (type = 'STANDARD' or expires_at is not null));

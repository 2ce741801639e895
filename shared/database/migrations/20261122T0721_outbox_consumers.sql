-- Up to which position of the outbox a consumer has read (api/workers/outbox-consumer.ts). Changes it has not read are kept.
create table outbox_consumers (
  name text primary key,
  position bigint not null,
  updated_at timestamptz not null default now()
);
grant select, insert, update on outbox_consumers to millrace_worker;

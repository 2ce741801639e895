-- What the gateways made of a platform's requests, minute by minute. A row is one gateway's alone, which writes its total so far, so
-- that writing it twice counts once. outcome: ACCEPTED and REPEATED count events, the code of a refusal counts requests.
create table ingestion_minutes (
  platform_id text not null,
  environment environment not null,
  minute timestamptz not null,
  gateway text not null,
  outcome text not null,
  total bigint not null,
  primary key (platform_id, environment, minute, gateway, outcome)
);
call protect_tenant_table('ingestion_minutes');
revoke insert, update, delete on ingestion_minutes from millrace_app;
call allow_system('ingestion_minutes', 'millrace_gateway', array['select', 'insert', 'update', 'delete']);
create index ingestion_minutes_by_minute on ingestion_minutes (minute);

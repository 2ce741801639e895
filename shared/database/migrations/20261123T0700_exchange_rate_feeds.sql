-- Reference rates of exchange from an address that a platform gives, fetched by a job.
alter table platforms add column exchange_rate_settings jsonb not null default '{}';
-- What the last fetch found; written by the job alone.
alter table platforms add column exchange_rate_status jsonb;
create index platforms_with_exchange_rate_url on platforms (platform_id, environment)
  where exchange_rate_settings ->> 'url' is not null;

-- A job finds those that are due.
create policy millrace_worker_select on platforms for select to millrace_worker using (true);
grant select (platform_id, environment, exchange_rate_settings, exchange_rate_status) on platforms to millrace_worker;

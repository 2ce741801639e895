-- Late usage: what was counted for each invoice when it was closed, so that what comes after it is billed on the next one,
-- once. Invoices that were closed before this table was made have no row: what comes late for them is kept and not billed.

alter table platforms
  add column late_event_policy text not null default 'NEXT_INVOICE' check (late_event_policy in ('NEXT_INVOICE', 'NOT_MATCHED')),
  add column processing_settings jsonb not null default '{"put_after_invoice_final_on_next_invoice": true}';

-- One choice under two names: whichever of the two is changed, the other follows. A flag that is cleared is at its default.
create function keep_late_event_policy() returns trigger language plpgsql as $$
begin
  if new.late_event_policy = old.late_event_policy then
    new.late_event_policy := case
      when coalesce((new.processing_settings ->> 'put_after_invoice_final_on_next_invoice')::boolean, true)
      then 'NEXT_INVOICE' else 'NOT_MATCHED' end;
  end if;
  new.processing_settings :=
    jsonb_build_object('put_after_invoice_final_on_next_invoice', new.late_event_policy = 'NEXT_INVOICE');
  return new;
end $$;
create trigger platforms_late_event_policy before update on platforms for each row execute function keep_late_event_policy();

-- The earliest usage an invoice rates: a price may reach back behind its period. Null on those not computed since.
alter table invoices add column usage_from timestamptz;

-- A reprocess looks at a range of usage: what ends before it and what starts after it is left as it is.
alter table reprocesses add column end_at timestamptz;

-- What the conditions of prices named when invoices were closed: a variable changes, a closed period keeps its price. Kept
-- once for all the invoices it is the same for.
create table closed_condition_names (
  platform_id text not null,
  environment environment not null,
  hash text not null,
  names jsonb not null,
  primary key (platform_id, environment, hash),
  foreign key (platform_id, environment) references platforms
);
call protect_tenant_table('closed_condition_names');

-- One row an invoice that is FINAL or ARCHIVED, written in the transaction that closed it.
create table closed_usage (
  platform_id text not null,
  environment environment not null,
  invoice_id text not null,
  pricing_plan_subscription_id text not null,
  -- In the order in which they were closed: every one of a subscription under its lock.
  seq bigint generated always as identity,
  -- The services its charges pay for; null when nothing it asks is metered.
  service_from timestamptz,
  service_until timestamptz,
  -- By partition of the log: everything up to there was counted.
  positions jsonb not null,
  -- Every name by which events could be counted then.
  customer_keys jsonb not null,
  names_hash text,
  charges jsonb not null,
  primary key (platform_id, environment, invoice_id),
  foreign key (platform_id, environment, invoice_id) references invoices,
  foreign key (platform_id, environment, pricing_plan_subscription_id) references pricing_plan_subscriptions,
  foreign key (platform_id, environment, names_hash) references closed_condition_names
);
create index closed_usage_subscription on closed_usage (platform_id, environment, pricing_plan_subscription_id, seq);
call protect_tenant_table('closed_usage');
revoke update, delete on closed_usage, closed_condition_names from millrace_app;

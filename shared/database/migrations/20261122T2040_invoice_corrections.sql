-- CREDIT_AND_REBILL: late usage of a FINAL invoice prepares a credit note and a new invoice in its place.

alter table platforms drop constraint platforms_late_event_policy_check;
alter table platforms add check (late_event_policy in ('NEXT_INVOICE', 'NOT_MATCHED', 'CREDIT_AND_REBILL'));

-- One choice under two names, of which the flag knows only two values: the policy follows the flag only when the flag changes.
create or replace function keep_late_event_policy() returns trigger language plpgsql as $$
declare
  was boolean := coalesce((old.processing_settings ->> 'put_after_invoice_final_on_next_invoice')::boolean, true);
  wanted boolean := coalesce((new.processing_settings ->> 'put_after_invoice_final_on_next_invoice')::boolean, true);
begin
  if new.late_event_policy = old.late_event_policy and wanted <> was then
    new.late_event_policy := case when wanted then 'NEXT_INVOICE' else 'NOT_MATCHED' end;
  end if;
  new.processing_settings :=
    jsonb_build_object('put_after_invoice_final_on_next_invoice', new.late_event_policy = 'NEXT_INVOICE');
  return new;
end $$;

create table invoice_corrections (
  platform_id text not null,
  environment environment not null,
  new_invoice_id text not null,
  original_invoice_id text not null,
  credit_invoice_id text not null,
  pricing_plan_subscription_id text not null,
  created_at timestamptz not null,
  -- ISSUED: the new invoice is FINAL and counts instead of the original. WITHDRAWN: one of the two was made VOID.
  status text not null check (status in ('PREPARED', 'ISSUED', 'WITHDRAWN')),
  -- By partition of the log: everything up to there was considered when it was last computed.
  positions jsonb not null,
  primary key (platform_id, environment, new_invoice_id),
  foreign key (platform_id, environment, new_invoice_id) references invoices,
  foreign key (platform_id, environment, original_invoice_id) references invoices,
  foreign key (platform_id, environment, credit_invoice_id) references invoices,
  foreign key (platform_id, environment, pricing_plan_subscription_id) references pricing_plan_subscriptions
);
-- An invoice is corrected once; a later correction is of the invoice that took its place.
create unique index invoice_corrections_once on invoice_corrections (platform_id, environment, original_invoice_id)
  where status <> 'WITHDRAWN';
create unique index invoice_corrections_credit on invoice_corrections (platform_id, environment, credit_invoice_id);
create index invoice_corrections_subscription on invoice_corrections (platform_id, environment, pricing_plan_subscription_id);
create index invoice_corrections_original on invoice_corrections (platform_id, environment, original_invoice_id);
call protect_tenant_table('invoice_corrections');

-- Why a FINAL invoice whose usage changed since has no correction (late_event_policy CREDIT_AND_REBILL).
alter table invoices add column correction_fault text;

create or replace function protect_final_invoice() returns trigger language plpgsql as $$
declare
  may_change constant text[] := array[
    'payment_status', 'updated_at', 'credited_amount', 'paid_amount', 'settled_amount', 'wallet_amount', 'overdue_at', 'content',
    'correction_fault'
  ];
begin
  if old.status <> 'FINAL' then
    return case tg_op when 'DELETE' then old else new end;
  end if;
  if tg_op = 'DELETE' or to_jsonb(new) - may_change is distinct from to_jsonb(old) - may_change
    or (new.content is distinct from old.content
      and issued_content(new.content) is distinct from issued_content(old.content)) then
    raise exception 'invoice % is FINAL and cannot change', old.id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;

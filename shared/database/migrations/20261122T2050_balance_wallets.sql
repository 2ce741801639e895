-- What wallets of type BALANCE pay of an invoice, with tax: held while it is not FINAL, paid once it is, and less when a credit note
-- gives part of it back.
alter table invoices add column wallet_amount numeric not null default 0 check (wallet_amount >= 0);

create or replace function protect_final_invoice() returns trigger language plpgsql as $$
declare
  may_change constant text[] := array[
    'payment_status', 'updated_at', 'credited_amount', 'paid_amount', 'settled_amount', 'wallet_amount', 'overdue_at'
  ];
begin
  if old.status <> 'FINAL' then
    return case tg_op when 'DELETE' then old else new end;
  end if;
  if tg_op = 'DELETE' or to_jsonb(new) - may_change is distinct from to_jsonb(old) - may_change then
    raise exception 'invoice % is FINAL and cannot change', old.id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;

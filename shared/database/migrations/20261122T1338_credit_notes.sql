-- Credit notes, copies, and what is paid and credited of an invoice. Amounts are with tax, in the currency of the invoice.
alter table invoices
  -- What a credit note credits, and a copy was made of.
  add column original_invoice_id text,
  -- What a credit note says of itself.
  add column credit jsonb,
  -- Of an invoice that is FINAL: the sum of its FINAL credit notes, of its recorded payments, and what was marked as paid without one.
  add column credited_amount numeric not null default 0 check (credited_amount >= 0),
  add column paid_amount numeric not null default 0 check (paid_amount >= 0),
  add column settled_amount numeric not null default 0 check (settled_amount >= 0),
  drop constraint invoices_payment_status_check,
  add constraint invoices_payment_status_check check (payment_status in ('UNPAID', 'PARTIALLY_PAID', 'PAID', 'OVERPAID')),
  add constraint invoices_credit_whole check ((type in ('CREDIT', 'ONE_OFF_CREDIT')) = (credit is not null)),
  add foreign key (platform_id, environment, original_invoice_id) references invoices;
create index invoices_original on invoices (platform_id, environment, original_invoice_id) where original_invoice_id is not null;

create or replace function protect_final_invoice() returns trigger language plpgsql as $$
declare
  may_change constant text[] := array['payment_status', 'updated_at', 'credited_amount', 'paid_amount', 'settled_amount'];
begin
  if old.status <> 'FINAL' then
    return case tg_op when 'DELETE' then old else new end;
  end if;
  if tg_op = 'DELETE' or to_jsonb(new) - may_change is distinct from to_jsonb(old) - may_change then
    raise exception 'invoice % is FINAL and cannot change', old.id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;

-- What was marked as paid until now was marked as paid whole.
update invoices set settled_amount = greatest(amount_including_tax, 0) where payment_status = 'PAID';

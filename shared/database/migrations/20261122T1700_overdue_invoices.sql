-- When an invoice was found to be overdue, and INVOICE.OVERDUE was emitted with it; null until then.
alter table invoices add column overdue_at timestamptz;

create or replace function protect_final_invoice() returns trigger language plpgsql as $$
declare
  may_change constant text[] :=
    array['payment_status', 'updated_at', 'credited_amount', 'paid_amount', 'settled_amount', 'overdue_at'];
begin
  if old.status <> 'FINAL' then
    return case tg_op when 'DELETE' then old else new end;
  end if;
  if tg_op = 'DELETE' or to_jsonb(new) - may_change is distinct from to_jsonb(old) - may_change then
    raise exception 'invoice % is FINAL and cannot change', old.id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;

-- What is partly paid is open too.
drop index invoices_unpaid;
create index invoices_unpaid on invoices (platform_id, environment, due_date)
  where status = 'FINAL' and payment_status in ('UNPAID', 'PARTIALLY_PAID') and amount_including_tax > credited_amount;

-- The worker's search for invoices whose due date has passed goes over all tenants, and reads nothing but these columns.
create index invoices_not_yet_overdue on invoices (due_date)
  where status = 'FINAL' and payment_status in ('UNPAID', 'PARTIALLY_PAID') and amount_including_tax > credited_amount
    and overdue_at is null;
create policy millrace_worker_select on invoices for select to millrace_worker using (true);
grant select (platform_id, environment, customer_id, status, payment_status, due_date, amount_including_tax, credited_amount, overdue_at)
  on invoices to millrace_worker;

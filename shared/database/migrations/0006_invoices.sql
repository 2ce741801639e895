-- Invoices. A row is one cut of one subscription; money is frozen for good once it is FINAL.

create table invoices (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  invoice_number text,
  status text not null check (status in ('OPEN', 'DRAFT', 'FINAL', 'VOID', 'ARCHIVED')),
  type text not null default 'STANDARD' check (type in ('STANDARD')),
  billing_type text not null default 'DEFAULT' check (billing_type in ('DEFAULT')),
  customer_id text not null,
  billing_entity_id text not null,
  pricing_plan_subscription_id text not null,
  -- What the invoice is for: the arrears period, or the period paid ahead when it is advance charges alone.
  period_start timestamptz not null,
  period_end timestamptz not null,
  -- The first invoice of a subscription asks advance charges alone and starts where the second one's arrears start.
  advance_only boolean not null,
  -- When the invoice stops collecting and becomes DRAFT.
  cut_at timestamptz not null,
  invoice_date timestamptz,
  delivery_date timestamptz,
  due_date timestamptz,
  billing_currency text not null check (billing_currency ~ '^[A-Z]{3}$'),
  timezone text not null,
  amount_excluding_tax numeric not null,
  tax_amount numeric not null,
  amount_including_tax numeric not null,
  sales_tax_percentage numeric,
  on_hold boolean not null default false,
  payment_status text not null default 'UNPAID' check (payment_status in ('UNPAID', 'PAID')),
  content jsonb not null,
  -- Hash of everything the content was computed from but usage.
  fingerprint text not null,
  -- When a DRAFT that is not on hold goes FINAL by itself.
  finalize_at timestamptz,
  updated_to_final_at timestamptz,
  primary key (platform_id, environment, id),
  unique (platform_id, environment, invoice_number),
  foreign key (platform_id, environment, customer_id) references customers,
  foreign key (platform_id, environment, billing_entity_id) references billing_entities,
  foreign key (platform_id, environment, pricing_plan_subscription_id) references pricing_plan_subscriptions,
  check (period_start < period_end),
  check (amount_excluding_tax + tax_amount = amount_including_tax),
  check (status <> 'FINAL' or num_nulls(invoice_number, invoice_date, due_date, updated_to_final_at) = 0),
  check (status = 'FINAL' or (invoice_number is null and payment_status = 'UNPAID')),
  check (not on_hold or status in ('OPEN', 'DRAFT'))
);
-- One invoice a period, whatever crashes or runs beside another run.
create unique index invoices_period on invoices (platform_id, environment, pricing_plan_subscription_id, period_start, advance_only)
  where status <> 'VOID';
create index invoices_customer on invoices (platform_id, environment, customer_id);
create index invoices_date on invoices (platform_id, environment, invoice_date);
call protect_tenant_table('invoices');

-- A FINAL invoice is a document: only whether it is paid may change, and it is never deleted.
create function protect_final_invoice() returns trigger language plpgsql as $$
begin
  if old.status <> 'FINAL' then
    return case tg_op when 'DELETE' then old else new end;
  end if;
  if tg_op = 'DELETE'
     or to_jsonb(new) - array['payment_status', 'updated_at'] is distinct from to_jsonb(old) - array['payment_status', 'updated_at'] then
    raise exception 'invoice % is FINAL and cannot change', old.id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger invoices_final before update or delete on invoices for each row execute function protect_final_invoice();

-- The last number given in each series; the row is locked while a number is taken, so numbers have no gap.
create table invoice_counters (
  platform_id text not null,
  environment environment not null,
  counter_key text not null,
  last_number bigint not null,
  primary key (platform_id, environment, counter_key),
  foreign key (platform_id, environment) references platforms
);
call protect_tenant_table('invoice_counters');

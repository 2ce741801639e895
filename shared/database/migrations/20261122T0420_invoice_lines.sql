-- The lines of invoices as rows, and invoices that are for something else than a period of a subscription.

alter table invoices
  -- What made the invoice, and can compute it again.
  add column producer text not null default 'SUBSCRIPTION',
  alter column pricing_plan_subscription_id drop not null,
  alter column period_start drop not null,
  alter column period_end drop not null,
  alter column advance_only drop not null,
  alter column cutoff_at drop not null,
  drop constraint invoices_type_check,
  add constraint invoices_type_check check (type in ('STANDARD', 'CREDIT', 'ONE_OFF', 'ONE_OFF_CREDIT')),
  drop constraint invoices_billing_type_check,
  add constraint invoices_billing_type_check check (billing_type in ('DEFAULT', 'SELF_BILLING')),
  add constraint invoices_period_whole check (
    num_nulls(period_start, period_end, advance_only, cutoff_at) in (0, 4)
    and (producer <> 'SUBSCRIPTION' or num_nulls(pricing_plan_subscription_id, period_start) = 0));
alter table invoices alter column producer drop default;

create table invoice_lines (
  platform_id text not null,
  environment environment not null,
  invoice_id text not null,
  -- The id that the document shows; it follows from what the line is for, so it may be on several invoices.
  line_id text not null,
  line_order integer not null,
  kind text not null check (kind in ('REVENUE', 'DISCOUNT', 'COMMITMENT', 'MARKUP', 'WALLET')),
  -- What the line is of; what it has none of is null.
  pricing_plan_subscription_id text,
  pricing_plan_schedule_id text,
  product_category_id text,
  product_id text,
  product_item_id text,
  pricing_id text,
  pricing_item_id text,
  pricing_item_config_id text,
  service_start timestamptz,
  service_end timestamptz,
  -- Rounded to the currency; exact where the platform does not have lines rounded.
  amount_excluding_tax numeric not null,
  tax_amount numeric not null,
  amount_including_tax numeric not null,
  tax_category text,
  -- What its producer keeps of it.
  source jsonb not null,
  primary key (platform_id, environment, invoice_id, line_order),
  foreign key (platform_id, environment, invoice_id) references invoices,
  check (amount_excluding_tax + tax_amount = amount_including_tax),
  check (service_start < service_end)
);
create index invoice_lines_subscription on invoice_lines (platform_id, environment, pricing_plan_subscription_id)
  where source @> '{"in_advance": true}';
create index invoice_lines_item on invoice_lines (platform_id, environment, product_item_id);
call protect_tenant_table('invoice_lines');

-- Rows of the invoices there are. The key of a charge is told by what its line shows; that of late usage is not, and not needed.
insert into invoice_lines (platform_id, environment, invoice_id, line_id, line_order, kind, pricing_plan_subscription_id,
  pricing_plan_schedule_id, product_category_id, product_id, product_item_id, pricing_id, pricing_item_id,
  pricing_item_config_id, service_start, service_end, amount_excluding_tax, tax_amount, amount_including_tax, tax_category,
  source)
select v.platform_id, v.environment, v.id, line ->> 'id',
  row_number() over (partition by v.platform_id, v.environment, v.id order by p.place, g.place, l.place) - 1,
  'REVENUE', g.value ->> 'pricing_plan_subscription_id', g.value ->> 'pricing_plan_schedule_id',
  g.value -> 'product_category' ->> 'id', line -> 'product_items' -> 0 ->> 'product_id', line -> 'product_items' -> 0 ->> 'id',
  g.value -> 'pricing' ->> 'id', line ->> 'pricing_item_id', line ->> 'pricing_item_config_id',
  (p.value ->> 'start_at')::timestamptz, (p.value ->> 'end_at')::timestamptz,
  (line -> 'amount_excluding_tax' ->> 'quantity')::numeric,
  (line -> 'amount_including_tax' ->> 'quantity')::numeric - (line -> 'amount_excluding_tax' ->> 'quantity')::numeric,
  (line -> 'amount_including_tax' ->> 'quantity')::numeric,
  line -> 'tax_categories' -> 0 ->> 'category',
  case when line ? 'late_for_invoice_id' then '{"in_advance": false}'::jsonb
    else jsonb_build_object('key', charge.key, 'in_advance', coalesce(v.content -> 'advance_charges' ? charge.key, false)) end
from invoices v
cross join lateral jsonb_array_elements(v.content -> 'periods') with ordinality as p (value, place)
cross join lateral jsonb_array_elements(p.value -> 'groups') with ordinality as g (value, place)
cross join lateral jsonb_array_elements(g.value -> 'lines') with ordinality as l (line, place)
cross join lateral (
  select concat_ws(' ', g.value ->> 'pricing_plan_schedule_id', line ->> 'pricing_item_id', line ->> 'pricing_item_config_id',
    line -> 'product_items' -> 0 ->> 'id', p.value ->> 'start_at') as key
) as charge;

-- What is kept of charges stands with their lines now; `content` holds only what is printed.
alter table invoices disable trigger invoices_final;
update invoices set content = content - 'advance_charges';
alter table invoices enable trigger invoices_final;

-- The lines of a FINAL invoice are part of the document: they change no more than it does.
create function protect_final_invoice_lines() returns trigger language plpgsql as $$
declare line record;
begin
  if tg_op = 'DELETE' then line := old; else line := new; end if;
  perform from invoices v
    where v.platform_id = line.platform_id and v.environment = line.environment and v.id = line.invoice_id and v.status = 'FINAL';
  if found then
    raise exception 'the lines of invoice % are FINAL and cannot change', line.invoice_id using errcode = 'restrict_violation';
  end if;
  return line;
end $$;
create trigger invoice_lines_final before insert or update or delete on invoice_lines
  for each row execute function protect_final_invoice_lines();

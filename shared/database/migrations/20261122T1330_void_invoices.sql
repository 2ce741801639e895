-- An invoice that a person makes VOID keeps its period, so that billing does not bill it again; one whose period its subscription no
-- longer has gives it back. Until now only the latter could be VOID.
alter table invoices
  add column holds_period boolean not null default true,
  -- What people wrote on the invoice, below what follows from its tax.
  add column own_notes jsonb not null default '[]';
update invoices set holds_period = false where status = 'VOID';

drop index invoices_period;
create unique index invoices_period on invoices (platform_id, environment, pricing_plan_subscription_id, period_start, advance_only)
  where holds_period;

-- Grants by the rules of prices (contract: Wallet rules 3 to 5; semantics 6).

-- What the charges of an invoice grant to wallets, as its producer computed it.
alter table invoices add column grants jsonb not null default '[]';

alter table wallet_grants
  add column seat jsonb,
  add column over_granted jsonb,
  -- The charge behind a grant by rule; null for one made by hand.
  add column charge jsonb;
-- A charge grants once, however many workers bill it.
create unique index wallet_grants_charge on wallet_grants (platform_id, environment, (charge ->> 'key'))
  where charge is not null and reverted_at is null;
create index wallet_grants_of_charge on wallet_grants (platform_id, environment, (charge ->> 'key')) where charge is not null;
create index wallet_grants_invoice on wallet_grants (platform_id, environment, (charge ->> 'invoice_id')) where charge is not null;

-- Items that sell credits, and prices in credits.
alter table product_items
  add column credits jsonb,
  add column credit_type_id text generated always as (credits ->> 'credit_type_id') stored,
  drop constraint product_items_model_type_check,
  add constraint product_items_model_type_check
    check (model_type in ('USAGE_BASED', 'RECURRING', 'ONE_OFF', 'PER_SEAT', 'CREDITS')),
  add foreign key (platform_id, environment, credit_type_id) references credit_types;

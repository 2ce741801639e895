-- Reference rates between currencies, by the time from which they hold: prices in one currency are invoiced in another.
create table exchange_rates (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- One unit of base_currency is `rate` units of currency.
  base_currency text not null,
  currency text not null,
  rate numeric not null check (rate > 0),
  rate_timestamp timestamptz not null,
  source text not null,
  -- What was corrected, the oldest first.
  corrections jsonb not null default '[]',
  primary key (platform_id, environment, id),
  foreign key (platform_id, environment) references platforms,
  check (base_currency <> currency)
);
create unique index exchange_rates_once on exchange_rates (platform_id, environment, base_currency, currency, rate_timestamp);
create index exchange_rates_of on exchange_rates (platform_id, environment, currency, rate_timestamp);
create index exchange_rates_created on exchange_rates (platform_id, environment, created_at, id);
call protect_tenant_table('exchange_rates');

-- Tax rates that a platform adds, or sets in place of the stored ones (shared/billing/tax-rates.ts).
create table tax_rates (
  platform_id text not null,
  environment environment not null,
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  country text not null,
  -- A Canadian province; null for the whole country.
  state text check (state is null or country = 'CA'),
  name text not null,
  percentage numeric not null check (percentage between 0 and 100),
  valid_from date not null,
  valid_to date,
  source text not null,
  primary key (platform_id, environment, id),
  foreign key (platform_id, environment) references platforms,
  check (valid_to > valid_from)
);
-- A country has one rate from a day, Canada one of each tax.
create unique index tax_rates_once on tax_rates
  (platform_id, environment, country, coalesce(state, ''), (case country when 'CA' then name else '' end), valid_from);
create index tax_rates_created on tax_rates (platform_id, environment, created_at, id);
call protect_tenant_table('tax_rates');

-- What tax engines outside of this installation said (shared/billing/tax-engine.ts): one row a question, the same for every invoice
-- between the same parties on a day. FINAL invoices keep the answer that they used with what they were priced from.
create table tax_answers (
  platform_id text not null,
  environment environment not null,
  -- The hash of the question.
  key text not null,
  customer_id text not null,
  billing_entity_id text not null,
  on_day date not null,
  question jsonb not null,
  -- The latest local day as of which an invoice needs it. An answer from before its day is asked for again on the day.
  needed_on date not null,
  answer jsonb,
  as_of date,
  fault text,
  attempts integer not null default 0,
  next_attempt_at timestamptz,
  created_at timestamptz not null,
  primary key (platform_id, environment, key),
  foreign key (platform_id, environment, customer_id) references customers on delete cascade,
  foreign key (platform_id, environment, billing_entity_id) references billing_entities on delete cascade,
  check ((answer is null) = (as_of is null))
);
create index tax_answers_of on tax_answers (platform_id, environment, customer_id, billing_entity_id, on_day);
-- Those to be asked: never answered, or answered before the day that they are about.
create index tax_answers_due on tax_answers (next_attempt_at)
  where answer is null or as_of < least(on_day, needed_on);
call protect_tenant_table('tax_answers');
call allow_system('tax_answers', 'millrace_worker', '{select}');

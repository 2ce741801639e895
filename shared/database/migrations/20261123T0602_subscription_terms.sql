-- Subscriptions that take the place of others, by whom they are paid, and how a template chooses who bills.
alter table pricing_plan_subscriptions
  add column upgraded_from_pricing_plan_subscription_id text,
  add column upgraded_to_pricing_plan_subscription_id text,
  add column payment_acceptor_ids text[] not null default '{}',
  add column template jsonb,
  add constraint template_settings_of_template check (template is null or type = 'TEMPLATE'),
  add foreign key (platform_id, environment, upgraded_from_pricing_plan_subscription_id) references pricing_plan_subscriptions,
  add foreign key (platform_id, environment, upgraded_to_pricing_plan_subscription_id) references pricing_plan_subscriptions;
create index pricing_plan_subscriptions_upgraded_from on pricing_plan_subscriptions
  (platform_id, environment, upgraded_from_pricing_plan_subscription_id) where upgraded_from_pricing_plan_subscription_id is not null;

-- The customers and currencies that a billing entity is chosen for.
alter table billing_entities
  add column default_customer_country_selector text[],
  add column default_billing_currency_selector text[];

-- How the version was named, and whether somebody has to approve the schedule.
alter table pricing_plan_schedules
  add column pricing_plan_version_selector jsonb,
  add column approval_status text check (approval_status in ('PENDING_REVIEW', 'APPROVED', 'DECLINED')),
  add constraint pending_review_is_draft check (approval_status is distinct from 'PENDING_REVIEW' or status = 'DRAFT');

-- Deleting a subscription looks for those that it takes the place of.
create index pricing_plan_subscriptions_upgraded_to on pricing_plan_subscriptions
  (platform_id, environment, upgraded_to_pricing_plan_subscription_id) where upgraded_to_pricing_plan_subscription_id is not null;

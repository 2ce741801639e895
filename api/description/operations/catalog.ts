// What the operations of the catalog: plans, prices and coupons do beyond their summary.

export const CATALOG_OPERATIONS: Readonly<Record<string, string>> = {
  coupons_redemptions_read:
    'One entry for each subscription that has the coupon, by its id or by any of its promotion codes.',
  promotion_codes_redemptions_read: 'One entry for each subscription that redeemed the coupon by this code.',
  prices_calculate:
    'The amounts are exact, beside them rounded ones. A price that could not be saved is refused in the same words. Conditions are left ' +
    'out: the quantity is what they would let through.',
  catalog_get:
    'Meters, products, plans with their versions and prices, and what belongs to them, in sections. Entries name each other by ' +
    '`reference`, so the file of one platform can be applied to another. Defaults are left out. Custom fields, customers and ' +
    'subscriptions are not part of it. A product without a reference is refused by name.',
  catalog_plan:
    'Lists every difference between the file and the catalog. `refusals` says why apply would be refused, such as a price of an ' +
    'ACTIVE version that differs. The file is really applied, and rolled back, so nothing is found later that is not found here.',
  catalog_apply:
    'All of the file is applied, or nothing. A second apply of the same file changes nothing. Members and entries that the file ' +
    'leaves out stay as they are; null and an empty list clear. Pricings of a DRAFT version are matched by their place.',
  pricing_plans_list:
    'Newest first. A plan has no status of its own: `statuses[]` lists the plans that have a version of one of these statuses.',
  pricing_plan_versions_upsert:
    'The plan and the number find the version. Without a number it is the newest one while that is DRAFT, else a new one. A version ' +
    'that is no longer DRAFT is refused, unless the body repeats its status.',
  pricing_plan_versions_calculate:
    'A DRAFT version is billed too. The customer pays from the start of a full billing period; quantities are those of each pricing ' +
    'period, and prices without one have no usage. ADDONs and pricing groups are priced too; of a group that allows one pricing, the ' +
    'one with a quantity is taken, else the first.',
  pricing_plan_versions_simulate:
    'The customers are those with an ACTIVE subscription on the plan now. Their last FINAL invoices are priced again from the events that they ' +
    'counted, with their discounts, commitments, coupons, seats and late usage. The version may be a DRAFT. Answers at once; follow `status` with ' +
    '`pricing_plan_version_simulations_get`. FAILED: a limit does not hold.',
  pricing_plan_version_simulations_list: 'Each is shown with its progress and result.',
  pricing_plan_version_simulations_get: 'The result is there once the status is DONE or FAILED.',
  pricing_plan_version_simulations_cancel:
    'It stops after the customers that are being rated. Repeating the call changes nothing.',
  pricing_plan_version_simulations_customers_read:
    'Order by `difference` to see who gains or loses most. Amounts are before tax, and include what wallets paid.',
  pricing_plan_versions_migrate:
    'The subscriptions are those that are ACTIVE and on the version now. Nothing is moved before `pricing_plan_version_migrations_start`. ' +
    'Answers at once; follow `status` with `pricing_plan_version_migrations_get` until it is PREVIEWED. Each subscription keeps what ' +
    '`migrate` of its schedule would keep.',
  pricing_plan_version_migrations_list: 'Each is shown with its progress and result.',
  pricing_plan_version_migrations_get: 'The result is there once the status is PREVIEWED; the run adds to it.',
  pricing_plan_version_migrations_start:
    'Each subscription is judged again when it is moved. A subscription that cannot be moved stays as it is and holds up no other.',
  pricing_plan_version_migrations_cancel:
    'It stops after the subscription that is being moved. Repeating the call changes nothing.',
  pricing_plan_version_migrations_results_read:
    'Order by `difference` to see who pays more. Amounts are before tax. ERROR and SKIPPED say why in `message`.',
  pricing_plan_versions_curve_read:
    'Between two points a charge goes evenly, so the pieces are the price and no samples of it. Without `to` a curve ends half beyond ' +
    'the last bound, or after ten blocks.',
}

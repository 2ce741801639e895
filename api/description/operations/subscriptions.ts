// What the operations of subscriptions, schedules, entitlements and test clocks do beyond their summary.

export const SUBSCRIPTIONS_OPERATIONS: Readonly<Record<string, string>> = {
  pricing_plan_schedules_on_demand_items_read:
    'The items have the ids that `invoices_charge_on_demand_pricing_items` takes. Pricings and categories without such items are left out.',
  customers_entitlements_read:
    'Adds up what the ACTIVE schedules of the customer’s ACTIVE subscriptions grant. Amounts of different currencies are listed ' +
    'separately. Millrace shows entitlements; it does not enforce them.',
  customers_entitlements_get:
    'Ask before a use whether the customer still has some of a feature. Usage is counted as the invoice of the running billing period ' +
    'will count it. `as_of` and `age_ms` say up to when. Millrace shows entitlements; it does not enforce them.',
  pricing_plan_subscription_groups_create:
    'Name the subscriptions here, or in `pricing_plan_subscription_group_id` of each of them. With `owner_customer_id` the group takes ' +
    'subscriptions of that customer and its children alone.',
  pricing_plan_subscription_groups_update:
    '`pricing_plan_subscription_ids` replaces the members. A subscription that is in another group is refused.',
  pricing_plan_subscriptions_cancel:
    'Ends the subscription at the moment that `type` names. A cancellation that has not taken effect can be undone with `UNDO`. ' +
    'Usage until the end is billed on the last invoice. With `refund_advance_charges`, that invoice also credits what was charged ahead ' +
    'for the days that are left.',
  pricing_plan_subscriptions_update:
    'Only a DRAFT subscription can change its customer, currency and cycle. Setting `status` to `ACTIVE` activates the subscription ' +
    'and its draft schedules in one step; of two such calls at once, the later one finds it ACTIVE and activates nothing again. A ' +
    'change that comes while an invoice is being made FINAL waits for that, and the next invoice has it.',
  pricing_plan_subscriptions_init:
    'With `template_pricing_plan_subscription_id`, only the fields that go on top of a template are accepted: its schedules are moved ' +
    'to the new start and keep their lengths. Without it, give the subscription in full. `status: ACTIVE` activates it. All of it is ' +
    'created, or nothing. With an AUTHORIZED `first_payment`, which was made elsewhere, the first invoice is FINAL and paid at once. It ' +
    'is refused where nothing is charged ahead from the start. A tax engine that decides the tax is asked first.',
  pricing_plan_subscriptions_copy:
    'The copy has the terms, the schedules and the custom fields of the original, but for fields that hold each value once. Change ' +
    'its customer and then set `status` to `ACTIVE`.',
  pricing_plan_subscriptions_void:
    'Use it for a subscription that was created by mistake. Its OPEN and DRAFT invoices become VOID. It is refused while one of its ' +
    'invoices is FINAL.',
  pricing_plan_subscriptions_change_plan:
    'The target is a plan of the same ACTIVE pricing plan group. To a plan that comes later in the group, or to a longer ' +
    '`billing_period` of the same plan, is an upgrade, and the group says when it takes effect. IMMEDIATE and IMMEDIATE_PRO_RATA: ' +
    'now, or at `start_at`; with IMMEDIATE_PRO_RATA what was charged in advance is credited for the days left. NEXT_BILLING_PERIOD: ' +
    'at the next invoice date, without `start_at`; what was charged beyond it is credited. The answer is the new schedule, which is ACTIVE. It is on the latest version of ' +
    'the plan and keeps the currency and the billing period; discounts, entitlements and seats of the old one are not carried over.',
  pricing_plan_subscriptions_pause:
    'From `start_at`, or from now, to `end_at`, or until it is resumed. The subscription stays ACTIVE: fees are not charged for the ' +
    'days of the pause, usage in it belongs to no subscription, and billing periods stay where they are. What a FINAL invoice has ' +
    'charged in advance is not given back.',
  pricing_plan_subscriptions_resume:
    'The pause ends now; the day it ends on is charged. Without a running pause, the one that would start next is removed.',
  test_clocks_create:
    'Customers that are attached live in `frozen_time`: their subscriptions are activated, changed, billed and cancelled in it, and by ' +
    'nothing else. Customers are attached before their first subscription is ACTIVE.',
  test_clocks_advance:
    'Moves `frozen_time` on, by two years at most. All that falls due on the way is done, each thing at its time: periods are billed, ' +
    'invoices become FINAL, trials end, terms are renewed, cancellations take effect. `failures` names each subscription that could ' +
    'not be billed. `complete` is false when one call could not do all of it; send the same call again to continue.',
  test_clocks_list: 'All test clocks of the TEST environment, the oldest first. LIVE has none.',
  test_clocks_get: 'Its `frozen_time` is where it stands. While it is ADVANCING, another advance is refused.',
  test_clocks_customers:
    'A customer has one clock, and keeps it. Usage is sent as ever; its timestamps are not checked against the clock.',
  pricing_plan_subscriptions_delete: 'Only a DRAFT subscription can be deleted. Its schedules are deleted with it.',
  pricing_plan_schedules_create:
    'The schedule is DRAFT until it is activated. It starts where the schedule before it ends. One that runs on without an end is ' +
    'ended at the start of this one, and with `set_previous_end_at` so is one that ends at another time. `set_next_start_at` starts ' +
    'the schedule after it at its end, as long as that one has not begun.',
  pricing_plan_schedules_update:
    'Every field of a DRAFT schedule can be changed, except its `type`. An ACTIVE schedule can be given another `end_at`, as long as ' +
    'neither the old nor the new one has passed, another `start_at` likewise while no FINAL invoice has charged it ahead, and other discounts, markups, minimums, enabled pricings, seats, included volumes and ' +
    'coupons for time that no FINAL invoice has billed. A change that comes while an invoice is being made FINAL waits for that, and ' +
    'is then refused for the time of that invoice.',
  pricing_plan_schedules_copy:
    'The copy is a DRAFT with the same version and terms. It starts where the original ends, unless `start_at` says otherwise, and ' +
    'runs on without `end_at`.',
  pricing_plan_schedules_migrate:
    'The new schedule is a DRAFT on the version that you name. Currency, billing period, entitlements and discounts go along, but ' +
    'for discounts on single prices of the old version. It ends where the original did. `set_previous_end_at` ends the original at ' +
    'its start.',
  pricing_plan_schedules_delete:
    'Only a DRAFT schedule can be deleted. The schedule before it keeps its end; set its `end_at` to null to have it run on.',
  pricing_plan_schedules_activate:
    'From then on the schedule is billed. The schedules before it must be ACTIVE. Of two calls for one draft at once, the later one is ' +
    'refused. Sent again afterwards, the call answers the schedule as it is. Where an approval policy requires it, the schedule is ' +
    'submitted instead: it stays DRAFT, and `approval_status` is PENDING_REVIEW.',
}

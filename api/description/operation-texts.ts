// What operations do beyond their summary, by operation id. The operations that every resource shares have theirs in
// standard-texts.ts.

export const OPERATION_TEXTS: Readonly<Record<string, string>> = {
  events_ingest:
    'The answer is 201 once the event is stored durably; it is counted within seconds. The same event sent again is answered the ' +
    'same and counted once. Send it to `ingest_url` for the highest rate. The customer and the subscription may be created later.',
  events_ingest_list:
    'All events of the list are stored, or none. Each is checked by itself, and a refusal names the position of the event at fault. ' +
    'Repeats are recognized by `reference`, as for single events.',
  ingest_meter_data: 'Another address of `events_ingest`.',
  ingest_meter_datas: 'Another address of `events_ingest_list`.',
  events_ingest_batch: 'Another address of `events_ingest_list`.',
  events_list:
    'Each event comes with `processed_details`, which says whether it is billed, a duplicate, or not matched, and why. Pages reach ' +
    'the newest 10,000 events that match. To read further, follow `links.next` of an answer with `starting_after`.',
  events_get:
    'A reference may contain any character; encode it for the path. The answer is the event that counts, not its repeats.',
  events_event_trace_read:
    'Shows when the event was received, stored and counted, which subscription and price it belongs to, and its amendments. Use it ' +
    'to find out why an event is not on an invoice.',
  usage_read:
    'Each bucket has one quantity for each calculation, currency and combination of `group_by[]` values. The numbers are exact and ' +
    'include every event that was accepted before `usage_counted_until`. With `pricing_plan_subscription_id` they are the quantities ' +
    'that its invoices bill, before included volumes and the state of a calculation with `persist`. An answer has at most 10,000 ' +
    'quantities, and at most 100 buckets where different values (UNIQUE) are counted.',
  usage_ingestion_read:
    'Counts what the gateways accepted and refused, of all calls that send events. Repeats are those that the gateway recognized and ' +
    'those that reached the log. The counts of the last seconds may still grow. They are kept for 31 days.',
  invoices_charge_on_demand_pricing_items:
    'Charges what a customer buys beside its billing periods, by the prices with `on_demand` of a schedule in force: packs, units, or ' +
    'an amount that the customer chooses. With the header `Idempotency-Key` a repeat does not charge twice. With `preview` nothing is stored.',
  pricing_plan_schedules_on_demand_items_read:
    'The items have the ids that `invoices_charge_on_demand_pricing_items` takes. Pricings and categories without such items are left out.',
  bulk_actions_check:
    'Chooses the invoices that `bulk_actions_create` would choose now: DRAFT, not on hold, and with this invoice date in their time ' +
    'zone. Says how many they are, and names ten of them.',
  bulk_actions_create:
    'Chooses the DRAFT invoices with this invoice date that are not on hold, at most 10,000, and makes them FINAL one after the other ' +
    'in the background. Read `bulk_actions_items_read` to see what became of each.',
  bulk_actions_items_read:
    'An invoice that could not become FINAL is FAILED, with the reason in `message`. It stops none of the others.',
  events_delete:
    'The event no longer counts. OPEN and DRAFT invoices follow when they are next computed; a FINAL invoice never changes. The ' +
    'reference cannot be used again.',
  events_amend:
    'Replaces the values and properties that are sent. What they were before is kept in `amendments` of the trace. OPEN and DRAFT ' +
    'invoices follow when they are next computed.',
  events_delete_by_reference: 'The same as `events_delete`, with the reference in the body.',
  events_amend_by_reference: 'The same as `events_amend`, with the reference in the body.',
  events_calculate:
    'Price with the event less price without it, for each customer that is billed for it: lines, tax, wallet before and after. Stores nothing. NOT_MATCHED: nothing prices it.',
  ingest_persist_data:
    'Sets what a calculation with `persist` has reached at a moment, such as 37 seats for a customer who comes from another system. ' +
    'Events after that moment are counted on top of it. A period that a FINAL invoice has billed is refused.',
  customers_entitlements_read:
    'Adds up what the ACTIVE schedules of the customer’s ACTIVE subscriptions grant. Amounts of different currencies are listed ' +
    'separately. Millrace shows entitlements; it does not enforce them.',
  coupons_redemptions_read:
    'One entry for each subscription that has the coupon, by its id or by any of its promotion codes.',
  promotion_codes_redemptions_read: 'One entry for each subscription that redeemed the coupon by this code.',
  customers_entitlements_get:
    'Ask before a use whether the customer still has some of a feature. Usage is counted as the invoice of the running billing period ' +
    'will count it. `as_of` and `age_ms` say up to when. Millrace shows entitlements; it does not enforce them.',
  wallet_grants_create:
    'Give `grant_amount` for a wallet of money and `grant_credits` for one of credits. The grant starts now unless `start_at` says ' +
    'otherwise, and never expires without `expire_at`, which is exclusive.',
  wallet_grants_revert:
    'What is open of the grant can no longer be spent. What is reserved or spent stays so; what is released later is taken back then.',
  wallets_balance:
    '`balance` is what was granted less what expired and what was settled; `open_balance` is the part that is not reserved. With ' +
    '`balance_at` it is that of another time, past or to come.',
  customers_wallets_balance: 'One entry for each wallet that is not ARCHIVED, in the order of their creation.',
  wallets_transactions_read:
    'Each entry moves a quantity of one grant from its debit account to its credit account and is never changed. `cause` says why.',
  wallets_forecast_read:
    'For the last 7 and the last 30 days: what was used, and when the open balance reaches zero at that rate. `ends_at` is null when ' +
    'nothing was used.',
  wallets_reservations:
    'Give `amount` or `credits`, as the wallet holds. Refused with 409 when less is open; nothing is reserved then. A `reference` ' +
    'reserves once for ever: a repeat is answered with the reservation that is there. Unless it is committed or released before its ' +
    '`lease` ends (10 minutes by default), it is released by itself.',
  wallets_reservations_commit:
    'Without `amount` and `credits` all of it is spent. Refused with 409 once the reservation was released or its lease has ended.',
  wallets_reservations_release: 'Refused with 409 once the reservation was committed.',
  wallets_reservations_get: 'It is found by its id or its `reference`.',
  tax_id_types_list: 'Without `country` the answer lists every type.',
  customers_forget:
    'For a request to erase personal data. Clears e-mail, names, addresses, tax ids and custom fields, and deletes the contacts. The ' +
    'id, the `reference` and the country stay. Only an ARCHIVED or DRAFT customer without OPEN and DRAFT invoices can be forgotten, ' +
    'and it never changes again.',
  customers_validate_tax_id:
    'The body is that of a new customer. The answer has one result for each of its tax ids: `NOT_VALID` when the form or the check ' +
    'digits are wrong, else `UNKNOWN`, since no authority is asked.',
  meter_property_variables_create: 'Conditions of prices name the variable with IN and NOT_IN. At most 10,000 values.',
  meter_property_variables_values_change:
    'Values that are already as the request wants them are listed in `skipped`. Invoices that are not FINAL follow the change when ' +
    'they are next computed.',
  meter_property_variables_values_read: 'Values are in the order in which they were added.',
  meters_meter_data_file_read: 'Fill in one line for each event, and upload the file with `files_create`.',
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
    'and its draft schedules in one step.',
  pricing_plan_subscriptions_init:
    'With `template_pricing_plan_subscription_id`, only the fields that go on top of a template are accepted: its schedules are moved ' +
    'to the new start and keep their lengths. Without it, give the subscription in full. `status: ACTIVE` activates it. All of it is ' +
    'created, or nothing.',
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
    'at the next invoice date, without `start_at`. The answer is the new schedule, which is ACTIVE. It is on the latest version of ' +
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
    'The schedule is DRAFT until it is activated. It starts where the schedule before it ends; `set_previous_end_at` ends that one ' +
    'at the start of this one, and `set_next_start_at` starts the draft after it at its end.',
  pricing_plan_schedules_update:
    'A DRAFT schedule can change in every field; of an ACTIVE one only the end can change.',
  pricing_plan_schedules_copy:
    'The copy is a DRAFT with the same version and terms. It starts where the original ends, unless `start_at` says otherwise, and ' +
    'runs on without `end_at`.',
  pricing_plan_schedules_migrate:
    'The new schedule is a DRAFT on the version that you name. Currency, billing period, entitlements and discounts go along, but ' +
    'for discounts on single prices of the old version. It ends where the original did. `set_previous_end_at` ends the original at ' +
    'its start.',
  pricing_plan_schedules_delete: 'Only a DRAFT schedule can be deleted.',
  pricing_plan_schedules_activate: 'From then on the schedule is billed. The schedules before it must be ACTIVE.',
  platforms_up_to_date_read:
    'Use it after a load of usage to know when previews and invoices include it: `event_processing_up_to_date_until` is the instant ' +
    'up to which every accepted event is counted.',
  files_create:
    'Send the CSV in `content`, name an https address to fetch it from, or create the file without content and upload it with ' +
    '`PUT /v1/files/{id}/content`. Lines are read in the background; follow `status`.',
  files_content_set:
    'Send the CSV itself, in UTF-8, as `text/csv`. The body is streamed and may be large. An upload that breaks off is started again ' +
    'from the beginning.',
  files_lines_read: 'Use it with `statuses[]=ERROR` to see what to correct.',
  alerts_create:
    'For alerts that your own systems find. Alerts that a rule finds by itself are made by the service. The same ' +
    '`data_trigger_reference` makes one alert.',
  webhooks_create:
    'Each change is sent from then on, in the order in which changes were committed, until the endpoint answers 2XX. The address must ' +
    'lead to the public internet. Make a secret with `webhooks_secret_key_change` to have deliveries signed.',
  webhooks_update:
    'Setting `active` to true starts a webhook again that was disabled: with the next change. What happened meanwhile is not ' +
    'sent by itself: use `webhooks_replay`.',
  webhooks_secret_key_change:
    'Answers the new secret in `secret_key`, in this answer only. The previous secret also signs, for up to 24 hours: receivers ' +
    'accept a delivery when either signature is right. A second roll meanwhile ends the oldest.',
  webhooks_secret_key_clear: 'Deliveries carry no signature from then on. Make a new secret to have them signed again.',
  webhooks_send_test:
    'Sends an event of type `WEBHOOK.TEST` whose `data` is the webhook, with its credentials and signatures, and answers what came of ' +
    'it. Refused while the service has disabled the webhook.',
  webhooks_send_penalty_box_payload:
    'Use it when the endpoint works again, so as not to wait for `penalty_box_data.retry_at`. Received, the queue continues behind it. A ' +
    'failure does not count towards the 20 that disable a webhook. Refused while the service has disabled the webhook.',
  webhooks_test_connection:
    'Sends an event of type `WEBHOOK.TEST` to the address, with the credentials that are sent. Use it before `webhooks_create`.',
  webhooks_actions_read: 'Names match exactly: none stands for several, and CREATED or UPDATED do not imply others.',
  webhooks_replay:
    'Use it when an endpoint was switched off, or has lost events. New events wait behind those that are sent again, so that order holds; ' +
    'events may be older than seven days. Answers at once; follow `status` with `webhooks_replays_get`. A failure is treated like any other: the ' +
    'event is sent again later, and 20 in a row disable the webhook, which cancels the replay.',
  webhooks_replays_read: 'A webhook has at most one replay that is RUNNING.',
  webhooks_replays_get: 'Shows how many events were sent, and how many remain.',
  webhooks_replays_cancel:
    'New events are sent again from then on. The endpoint may have received older states last: cancel only what it can do without.',
  webhook_events_list:
    'Complete and in order, also for those who have no webhook: continue with `starting_after` the last event you read, and you miss none and get none twice. With ' +
    'a filter an answer may hold fewer than `limit` although `has_more` is true; follow `links.next`.',
  webhook_events_get: 'Use it to see which webhooks have received the event, and which have not.',
  webhook_events_attempts_read: 'Shows when the event was sent, why, and how the endpoint answered.',
  webhook_events_resend:
    'Use it when your system has lost an event. The body and the id are the same as before. The queue does not change, and a failure does not count ' +
    'towards the 20 that disable a webhook. Refused while the service has disabled the webhook.',
  roles_list: 'Built-in roles come first. `child_roles` are answered when `include_child_roles` is true.',
  roles_get: 'Built-in roles can be read by their id as well.',
  permissions_list: 'A permission is named `RESOURCE.ACTION`, and is what one or more operations need.',
  api_keys_create:
    'The text of the key is in `api_key` of this answer only. A repeat with the same Idempotency-Key answers without it. Keep it in ' +
    'a secret store.',
  api_keys_update: 'Setting `active` to false revokes the key for good.',
  api_keys_revoke: 'The key stops working within five seconds, and cannot be made to work again.',
  api_keys_search: 'Every field that is sent must match. The answer is the newest key that does.',
  api_keys_decrypt_read: 'Always refused: a key is stored as a hash, and its text cannot be shown again.',
  audit_records_list: 'Records are written within seconds of the change. Filter by who, by what, and by when.',
  audit_records_get: 'Holds the fields that changed, with their values before and after.',
  users_list: 'Invited users who have not accepted yet are listed with their status.',
  users_create: 'The person gets an e-mail with a link to choose a password. The same as `users_invite`.',
  users_search_read: 'At most 100 users, ordered by address.',
  users_get: 'Shows the user’s roles and teams on this platform and environment only.',
  users_update: 'A user who is switched off cannot act here from within a second; other platforms are not affected.',
  users_reset_second_factor:
    'Removes the authenticator app, the passkeys and the recovery codes, ends all sessions, and sends the user a mail. Refused for ' +
    'a user who is also a member of another platform.',
  users_invite: 'The roles apply once the invitation is accepted. Inviting the same address again sends a new e-mail.',
  users_revoke_invite: 'The link in the e-mail stops working.',
  users_memberships_read: 'A membership says which roles a user has.',
  users_memberships: 'Roles that the user has already stay. You can give only permissions that you have yourself.',
  users_memberships_update:
    'Replaces the roles of the membership. You can give only permissions that you have yourself.',
  users_memberships_delete:
    'The user loses access to this platform and environment. The last administrator cannot be removed.',
  users_teams_read: 'Memberships of the past and the future are listed with their times.',
  users_teams: 'The roles of the team are the user’s from `start_at` until `end_at`.',
  teams_list: 'Each team is shown with its roles and members.',
  teams_create: 'You can give only permissions that you have yourself.',
  teams_get: 'Shows the roles and the members of the team.',
  teams_update: 'Replaces the roles when they are sent. Members follow at once.',
  teams_delete: 'Members lose the roles of the team at once.',
  teams_memberships: 'Roles that the team has already stay.',
  invoices_list: 'Shows invoices without periods and lines unless `include_periods` or `include_lines` is true.',
  invoices_search: 'Works as `invoices_list`, with conditions on more fields.',
  invoices_get: 'Each line shows its quantity, its price and how the amount came about.',
  invoices_update:
    'Setting `status` to `FINAL` gives the invoice its number and fixes it for good. `on_hold` keeps it from becoming FINAL by ' +
    'itself. `custom_fields` can change after that too: they are on no document.',
  invoices_create:
    'A one-off invoice becomes FINAL only when you say so. Its lines are priced as they are sent; taxes, number and PDF are as for any ' +
    'other invoice. Without `invoice_date` it is dated on the day it becomes FINAL.',
  invoices_lines:
    'The invoice is computed again with the line. A line of a subscription’s invoice takes part in no clause but those in ' +
    '`applicable_for_clauses`.',
  invoices_add_line: 'Works as `invoices_lines`.',
  invoices_lines_replace: 'The line keeps its id.',
  invoices_lines_delete: 'A line that follows from prices cannot be removed; add one that deducts it.',
  invoices_delete_line:
    'Names lines by `period_order`, `group_order` and `line_order`. All of them are removed, or none.',
  invoices_credit:
    'Without `periods` everything that is left is credited; with them, the periods, groups and lines named, whole or in part by `amount`: ' +
    'without tax where the prices are. The DRAFT holds what it credits, so two never take the same. The invoice follows when it is FINAL.',
  invoices_credit_and_copy:
    'The copy has the lines of the original as lines of its own. Both stay DRAFT unless they are to be FINAL at once. Billing leaves the ' +
    'period to the original.',
  invoices_lines_explanation_read:
    'A FINAL invoice is explained by what was kept when it became FINAL; one that is OPEN or DRAFT as of now. Amounts of steps are exact.',
  invoices_lines_events_read:
    'Of a FINAL invoice those up to the position of the log at which it was closed. Read on with `starting_after`.',
  invoices_verify:
    'Usage is read from the log up to the position at which the invoice was closed; everything else was kept with it. Nothing is changed. ' +
    'Only an invoice for a period of a subscription can be verified.',
  invoices_receipt_read:
    'The receipt never changes. With `reference` the answer has the proof that the event is in it; the documentation shows a program ' +
    'that checks it.',
  payments_create:
    'The invoice follows at once: PARTIALLY_PAID, PAID or OVERPAID. Without `invoice_id` the payment is on account of the customer, and ' +
    'counts for no invoice.',
  payments_reverse: 'For a payment that was recorded wrongly, or that came back. The invoice follows at once.',
  invoices_payments_read: 'Lists them by when they were recorded, the oldest first.',
  invoices_void:
    'Only for an OPEN or DRAFT invoice. It takes no number, and billing leaves its period and its advance charges unbilled. It cannot be ' +
    'undone.',
  invoices_archive:
    'An invoice that is ARCHIVED does not change again. Its period stays as it was: unbilled, where it was VOID.',
  invoices_pdf_read: 'A PDF of an OPEN or DRAFT invoice is marked as such.',
  invoices_ubl21_read:
    'By EN 16931, for FINAL invoices and credit notes. `include_invoice_pdf` puts the PDF inside. What the standard cannot express is ' +
    'refused with the field that prevents it.',
  invoices_factur_x_read:
    'By EN 16931, for FINAL invoices and credit notes: a PDF/A-3 with the data inside as XML. What the standard cannot express is refused ' +
    'with the field that prevents it.',
  invoices_download_url_read:
    'The link shows this invoice alone, as it is when the link is opened. Anyone who has the link can open it until `expire_at`. `format` is PDF ' +
    'unless you send HTML, a page for browsers, or UBL or FACTUR_X, the e-invoices of a FINAL invoice.',
  invoices_refresh: 'A FINAL invoice is refused. `types` says what to read again; `FULL` reads everything.',
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
    'period, and prices without one have no usage.',
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
  pricing_plan_versions_curve_read:
    'Between two points a charge goes evenly, so the pieces are the price and no samples of it. Without `to` a curve ends half beyond ' +
    'the last bound, or after ten blocks.',
  invoices_preview:
    'Computes the invoices of a subscription up to a date, from usage that is counted so far and the prices as they are. Use it to ' +
    'check prices before you activate them, and to show a customer what a period costs so far.',
}

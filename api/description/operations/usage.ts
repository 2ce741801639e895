// What the operations of events, usage, meters, files and alerts do beyond their summary.

export const USAGE_OPERATIONS: Readonly<Record<string, string>> = {
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
    'the newest 50,000 events that match, by NOT_MATCHED or DEFAULT 10,000. To read further, follow `links.next` of an answer with `starting_after`.',
  events_get:
    'A reference may contain any character; encode it for the path. The answer is the event that counts, not its repeats.',
  events_event_trace_read:
    'Shows when the event was received, stored and counted, which subscription and price it belongs to, and its amendments. Use it ' +
    'to find out why an event is not on an invoice.',
  usage_read:
    'Each bucket has one quantity for each calculation, currency and combination of `group_by[]` values. The numbers are exact and ' +
    'include every event that was accepted before `usage_counted_until`. With `pricing_plan_subscription_id` they are the quantities ' +
    'that its invoices bill, before included volumes and the state of a calculation with `persist`. An answer has at most 10,000 ' +
    'quantities, and different values (UNIQUE) are counted in at most 100 buckets.',
  usage_ingestion_read:
    'Counts what the gateways accepted and refused, of all calls that send events. Repeats are those that the gateway recognized and ' +
    'those that reached the log. The counts of the last seconds may still grow. They are kept for 31 days.',
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
  meter_property_variables_create: 'Conditions of prices name the variable with IN and NOT_IN. At most 10,000 values.',
  meter_property_variables_values_change:
    'Values that are already as the request wants them are listed in `skipped`. Invoices that are not FINAL follow the change when ' +
    'they are next computed.',
  meter_property_variables_values_read: 'Values are in the order in which they were added.',
  meters_meter_data_file_read: 'Fill in one line for each event, and upload the file with `files_create`.',
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
}

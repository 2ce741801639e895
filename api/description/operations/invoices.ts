// What the operations of invoices, bulk actions and payments do beyond their summary.

export const INVOICES_OPERATIONS: Readonly<Record<string, string>> = {
  invoices_charge_on_demand_pricing_items:
    'Charges what a customer buys beside its billing periods, by the prices with `on_demand` of a schedule in force: packs, units, or ' +
    'an amount that the customer chooses. With the header `Idempotency-Key` a repeat does not charge twice. With `preview` nothing is stored.',
  invoices_send_by_email:
    'Schedules one letter with the PDF to the customer and its contacts. With the header `Idempotency-Key` a repeat sends no second one. ' +
    'Read `invoices_emails_read` to see what became of it.',
  invoices_emails_read: 'A sending that FAILED has the reason in `message`. No address is kept or shown.',
  bulk_actions_check:
    'Chooses the invoices that `bulk_actions_create` would choose now: DRAFT, not on hold, and with this invoice date in their time ' +
    'zone. Says how many there are, and names up to ten of them.',
  bulk_actions_create:
    'Chooses the DRAFT invoices with this invoice date that are not on hold, at most 10,000, and makes them FINAL one after the other ' +
    'in the background. Those of subscriptions that combine are issued in one. Read `bulk_actions_items_read` to see what became of each.',
  bulk_actions_items_read:
    'An invoice that could not become FINAL is FAILED, with the reason in `message`. It stops none of the others.',
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
    'A one-off invoice and an on-demand charge are made again from what was kept with them. A credit note is refused.',
  invoices_receipt_read:
    'The receipt never changes. With `reference` the answer has the proof that the event is in it; the documentation shows a program ' +
    'that checks it.',
  payments_create:
    'The invoice follows at once: PARTIALLY_PAID, PAID or OVERPAID. Without `invoice_id` the payment is on account of the customer, and ' +
    'counts for no invoice.',
  payments_reverse: 'For a payment that was recorded wrongly, or that came back. The invoice follows at once.',
  payments_refund:
    'For money that you paid back elsewhere. Without `amount`, all that is left of the payment; it is then REFUNDED. The invoice follows ' +
    'at once.',
  invoices_refund:
    'Pays back `refundable_amount`, the newest payments first, and then what was marked as paid without a payment. It records what you ' +
    'paid back elsewhere, and moves no money.',
  invoices_payment_attempts_read:
    'Lists them by when they were recorded, the oldest first. No gateway is connected, so each is a recorded payment.',
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
  invoices_refresh:
    '`types` says what to read again; `FULL` reads everything. A FINAL invoice keeps what it says: only custom fields, payment acceptors ' +
    'and a split of its taxes can be read again, and any other type is refused.',
  invoices_preview:
    'Computes the invoices of a subscription up to a date, from usage that is counted so far and the prices as they are. Use it to ' +
    'check prices before you activate them, and to show a customer what a period costs so far. Of a subscription that combines, `invoice` has ' +
    'the lines of the others too. Of a template it shows the first invoices of a subscription that would be made from it at `start_at`, for ' +
    'a customer with these details and these choices: as on a checkout page. Nothing is kept.',
}

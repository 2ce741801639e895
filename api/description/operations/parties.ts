// What the operations of customers, tax ids and platforms do beyond their summary.

export const PARTIES_OPERATIONS: Readonly<Record<string, string>> = {
  tax_id_types_list: 'Without `country` the answer lists every type.',
  customers_forget:
    'For a request to erase personal data. Clears e-mail, names, addresses, tax ids and custom fields, and deletes the contacts. The ' +
    'id, the `reference` and the country stay. Only an ARCHIVED or DRAFT customer without OPEN and DRAFT invoices can be forgotten, ' +
    'and it never changes again.',
  customers_validate_tax_id:
    'The body is that of a new customer. The answer has one result for each of its tax ids: `NOT_VALID` when the form or the check ' +
    'digits are wrong, else `UNKNOWN`, since no authority is asked.',
  platforms_currencies_read:
    'All currencies of ISO 4217 in which something can be billed, by code. Metals, codes for tests and funds without a minor unit are ' +
    'not among them.',
  platforms_entitlements_read:
    'Adds up what the ACTIVE subscriptions of all customers grant now, and lists each of them. Refused when there are more than 10,000; ' +
    'then read each customer.',
  platforms_up_to_date_read:
    'Use it after a load of usage to know when previews and invoices include it: `event_processing_up_to_date_until` is the instant ' +
    'up to which every accepted event is counted. `billing` counts the subscriptions that are due to be billed, and those whose last run ' +
    'failed. Customers of test clocks are not among them.',
}

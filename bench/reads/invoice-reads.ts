// Searches and lists over a year of many invoices.
import { invoiceNumber } from './make-invoices.ts'
import type { Read } from './read.ts'

const DAY_MS = 24 * 3_600_000
const TIMES = 10

/** The invoices are those of `fillInvoices`. */
export function invoiceReads(of: {
  readonly invoices: number
  readonly end: number
  readonly customerId: string
}): Read[] {
  const { invoices, end, customerId } = of
  const range = (from: number, to: number): string =>
    `[${new Date(end - from * DAY_MS).toISOString()},${new Date(end - to * DAY_MS).toISOString()}]`
  const year = { name: 'invoice_date', value: range(365, 0) }
  const number = invoiceNumber(Math.floor(invoices / 2))
  const search = (name: string, body: object, query = ''): Read => ({
    name: `invoices: ${name}`,
    path: `invoices/search?limit=50${query}`,
    body,
    times: TIMES,
  })
  const filtered = (...fields: object[]): object => ({ filter_fields: fields })
  return [
    { name: 'invoices: list', path: 'invoices?limit=50', times: TIMES },
    { name: 'invoices: list, page 1,000', path: 'invoices?limit=50&page=1000', times: TIMES },
    { name: 'invoices: list of a customer', path: `invoices?limit=50&customer_id=${customerId}`, times: TIMES },
    { name: 'invoices: list of DRAFT', path: 'invoices?limit=50&statuses[]=DRAFT', times: TIMES },
    { name: 'invoices: list of unpaid', path: 'invoices?limit=50&paid=false', times: TIMES },
    search('a year', filtered(year)),
    search('a year by date', filtered(year), '&order_by=invoice_date'),
    search('a year by due date', filtered(year), '&order_by=due_date'),
    search('a year by number', filtered(year), '&order_by=invoice_number'),
    search('first month of the year', filtered({ name: 'invoice_date', value: range(365, 335) })),
    search('first day of the year', filtered({ name: 'invoice_date', value: range(365, 364) })),
    search('a year of a customer', filtered(year, { name: 'customer_id', value: customerId })),
    search('a year, unpaid', filtered(year, { name: 'payment_status', value: 'UNPAID' })),
    search('a year, DRAFT', filtered(year, { name: 'status', value: 'DRAFT' })),
    search('a year, FINAL', filtered(year, { name: 'status', value: 'FINAL' })),
    search('a year, another currency', filtered(year, { name: 'billing_currency', value: 'USD' })),
    search('a number', { search_fields: [{ name: 'invoice_number', value: number }] }),
    search('start of a number', {
      search_fields: [{ name: 'invoice_number', value: number.slice(0, -2), wildcard_end: true }],
    }),
    search('a year, part of a number', {
      filter_fields: [year],
      search_fields: [
        { name: 'invoice_number', value: number.slice(7), wildcard_start: true, wildcard_end: true, ignore_case: true },
      ],
    }),
  ]
}

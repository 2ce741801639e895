// What the api shows of payments, compared with the books of the slow model.
import { decimal, plain } from '../../../../../../shared/decimal.ts'
import { succeed } from '../../../../../testing/calls.ts'
import type { ApiHarness, TestTenant } from '../../../../../testing/harness.ts'
import type { Row } from '../../../../../testing/wire.ts'
import { dayOf } from '../calendar.ts'
import { resultOf, SlowInvoice, type SlowPayment } from '../slow-model/payments.ts'

/** What the slow model knows of a customer. */
export type Books = {
  /** Of each FINAL invoice, by its id. */
  readonly invoices: Map<string, SlowInvoice>
  /** What was paid of invoices before they were there, by their id. */
  readonly first: Map<string, Omit<SlowPayment, 'back'>>
  /** Those that one credit note took all of. */
  readonly creditedWhole: Set<string>
  /** Into the wallet, and when last. */
  granted: number
  grantedAt: number
}
export const emptyBooks = (): Books => ({
  invoices: new Map(),
  first: new Map(),
  creditedWhole: new Set(),
  granted: 0,
  grantedAt: 0,
})

export const centsOf = ({ quantity }: Row): number => Number(plain(decimal(quantity).times('100')))
const isCredit = ({ type }: Row): boolean => type === 'CREDIT' || type === 'ONE_OFF_CREDIT'
const amountsOf = (row: Row) => ({
  total: centsOf(row['invoice_amount_including_tax']),
  paid: centsOf(row['paid_invoice_amount']),
  open: centsOf(row['open_invoice_amount']),
  closed: centsOf(row['closed_invoice_amount']),
  refundable: centsOf(row['refundable_amount']),
})

type Seen = {
  /** All invoices of the customer, as they are listed. */
  readonly invoices: readonly Row[]
  readonly now: number
  readonly wallet: Row | null
}

/** What differs, in words. Invoices that became FINAL since are added to the books. */
export async function compared(tenant: TestTenant, books: Books, { invoices, now, wallet }: Seen): Promise<string[]> {
  const faults: string[] = []
  const fresh = invoices.filter(row => row['status'] === 'FINAL' && !isCredit(row) && !books.invoices.has(row['id']))
  for (const row of fresh) {
    const { total, paid } = amountsOf(row)
    const first = books.first.get(row['id'])
    // The story made no other payment, so a wallet paid the rest.
    const wallet = paid - (first?.result === 'AUTHORIZED' ? first.cents : 0)
    if (wallet < 0 || wallet > Math.max(0, total)) faults.push(`${row['id']} of ${total} has ${wallet} from wallets`)
    const own = new SlowInvoice(total, wallet)
    if (first) own.pay(first)
    books.invoices.set(row['id'], own)
  }
  for (const row of invoices) faults.push(...invoiceFaults(row, books, now))
  return [...faults, ...(wallet ? await walletFaults(tenant, books, { invoices, wallet, fresh }) : [])]
}

function invoiceFaults(row: Row, books: Books, now: number): string[] {
  const { total, paid, open, closed, refundable } = amountsOf(row)
  const name = `${row['status']} ${row['type']} ${row['id']} of ${total}`
  const own = books.invoices.get(row['id'])
  const faults = open + closed === total ? [] : [`${name}: ${open} open and ${closed} closed`]
  if (row['paid'] !== ['PAID', 'OVERPAID'].includes(row['payment_status']))
    faults.push(`${name}: paid is ${row['paid']}, and it is ${row['payment_status']}`)
  if (!own) {
    if (row['payment_status'] !== 'UNPAID' && row['status'] !== 'FINAL')
      faults.push(`${name} is ${row['payment_status']}`)
    return faults
  }
  const is = [row['payment_status'], paid, open, refundable].join(' ')
  const shown = own.shown()
  const should = [shown.status, shown.paid, shown.open, shown.refundable].join(' ')
  if (is !== should) faults.push(`${name} is ${is}, not ${should}`)
  const { due_date: due, timezone } = row
  const isOverdue = shown.open > 0 && due !== null && dayOf(now, timezone) > dayOf(Date.parse(due), timezone)
  if (row['payment_overdue'] !== isOverdue) faults.push(`${name}, due ${due}: overdue is ${row['payment_overdue']}`)
  return faults
}

/** What was granted is there or was spent on FINAL invoices, and what is held is what the others take. */
async function walletFaults(
  tenant: TestTenant,
  books: Books,
  {
    invoices,
    wallet,
    fresh,
  }: { readonly invoices: readonly Row[]; readonly wallet: Row; readonly fresh: readonly Row[] },
): Promise<string[]> {
  const shown = await succeed(tenant, 'POST', `/v1/wallets/${wallet['id']}/balance`, {})
  const cents = (name: string): number => centsOf(shown[name].amount)
  const spent = [...books.invoices.values()].reduce((sum, own) => sum + own.wallet, 0)
  const held = invoices
    .filter(({ status }) => status === 'OPEN' || status === 'DRAFT')
    .reduce((sum, row) => sum + amountsOf(row).paid, 0)
  const is = [cents('balance'), cents('reserved_balance'), cents('open_balance')].join(' ')
  const should = [books.granted - spent, held, books.granted - spent - held].join(' ')
  const faults = is === should ? [] : [`the wallet has ${is}, not ${should}`]
  // What is open pays whatever becomes FINAL, but for time that was over before it was granted: of a schedule that was activated late.
  if (cents('open_balance') <= 0) return faults
  const isInTime = ({ type, period_end }: Row): boolean =>
    type !== 'STANDARD' || Date.parse(period_end) > books.grantedAt
  const unpaid = fresh
    .filter(isInTime)
    .filter(row => (books.invoices.get(row['id'])?.wallet ?? 0) < amountsOf(row).total)
  return [...faults, ...unpaid.map(row => `${row['id']} is not paid by the wallet, which has ${is}`)]
}

/** Payments as they are listed, and how often an invoice was announced as paid. */
export async function paymentFaults(tenant: TestTenant, sql: ApiHarness['sql'], books: Books): Promise<string[]> {
  const faults: string[] = []
  for (const [id, own] of books.invoices) {
    const { data } = (await succeed(tenant, 'GET', `/v1/invoices/${id}/payments`)) as { data: Row[] }
    const shown = (each: Row): string => `${each['id']} ${each['result']} ${centsOf(each['amount'])}`
    const is = data.map(each => `${shown(each)} ${centsOf(each['refunded_amount'])}`).toSorted()
    const should = own.payments.map(each => `${each.id} ${resultOf(each)} ${each.cents} ${each.back}`).toSorted()
    if (is.join() !== should.join()) faults.push(`payments of ${id} are ${is}, not ${should}`)
  }
  const rows = await sql(
    "select object_id, count(*)::int as times from outbox where type = 'INVOICE.PAID' and object_id = any($1) group by object_id",
    [[...books.invoices.keys()]],
  )
  const announced = new Map(rows.map(({ object_id, times }) => [object_id, times]))
  for (const [id, { timesPaid }] of books.invoices)
    if ((announced.get(id) ?? 0) !== timesPaid)
      faults.push(`${id} was announced as paid ${announced.get(id) ?? 0} times, not ${timesPaid}`)
  return faults
}

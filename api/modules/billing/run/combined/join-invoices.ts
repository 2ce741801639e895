// One document for the invoices of several subscriptions: their lines one after the other, each as its own subscription
// priced it, and tax, totals and what is paid after tax once for all of them. Pure: the same invoices give the same
// document, byte for byte.
import type { ChargeGrant } from '../../../invoices/charge-grants.ts'
import { buildDocument, documentAmounts } from '../../../invoices/document/build-document.ts'
import type { DraftInvoice, DraftLine } from '../../../invoices/document/draft-invoice.ts'
import type { PrepaidBalance } from '../../../invoices/document/pay-from-balances.ts'
import type { LineValues } from '../../../invoices/lines/table.ts'
import type { CustomerView, SubLineView } from '../../../invoices/schema.ts'
import type { InvoiceColumns } from '../../../invoices/table.ts'
import { linesThatFill } from '../../pricing/apply-clauses.ts'
import type { PeriodColumns } from '../../pricing/period-columns.ts'
import type { InvoiceBeforeDocument } from '../../pricing/price-invoice.ts'

/** The invoice of one subscription. */
export type Part = {
  readonly invoiceId: string
  readonly subscriptionId: string
  readonly priced: InvoiceBeforeDocument
}
type Parts = readonly [Part, ...Part[]]

export type JoinedInvoice = {
  readonly columns: InvoiceColumns & PeriodColumns
  readonly lines: readonly LineValues[]
  readonly grants: readonly ChargeGrant[]
}

/**
 * The key of a line in the document. A charge keeps its own, which no other charge has; what clauses and wallets make is
 * named the same in every invoice.
 */
export const joinedKey = ({ subscriptionId, priced }: Part, key: string): string =>
  priced.rated.some(({ charge }) => charge.key === key) ? key : `${subscriptionId} ${key}`

/** Joins invoices that `sameDocument` calls the same; `balances` is what can pay them after tax. */
export function joinInvoices(parts: Parts, balances: readonly PrepaidBalance[]): JoinedInvoice {
  const draft = joinedDraft(parts, balances)
  const document = buildDocument(draft, documentAmounts(draft), {
    subLines: new Map(
      parts.flatMap(({ priced }): [string, readonly SubLineView[] | null][] => [...priced.beside.subLines]),
    ),
    customers: joinedCustomers(parts),
  })
  return {
    columns: { ...document.columns, ...joinedPeriod(parts) },
    lines: document.lines,
    grants: parts.flatMap(({ priced }) => priced.grants),
  }
}

function joinedDraft(parts: Parts, balances: readonly PrepaidBalance[]): DraftInvoice {
  const [first] = parts
  const drafts = parts.map(({ priced }) => priced.draft)
  const { period, ...shared } = first.priced.draft
  const samePeriod = drafts.every(each => JSON.stringify(each.period) === JSON.stringify(period))
  return {
    ...shared,
    lines: parts
      .flatMap(part => part.priced.draft.lines.map(line => withKey(line, joinedKey(part, line.key))))
      .toSorted((a, b) => rankOf(a) - rankOf(b)),
    balances: balances.map(balance => ({
      ...balance,
      except: new Set(parts.flatMap(({ priced }) => [...linesThatFill(priced.rated, balance.walletTypeId)])),
    })),
    findings: once(drafts.flatMap(({ findings }) => findings)),
    subscriptionIds: parts.map(({ subscriptionId }) => subscriptionId),
    combinedIds: parts.map(({ invoiceId }) => invoiceId),
    period: samePeriod ? period : null,
    hasUsage: drafts.some(({ hasUsage }) => hasUsage),
    copiedFields: once(drafts.flatMap(({ copiedFields }) => copiedFields)),
  }
}

/** What is sold first, then what is of a whole subscription, then what wallets pay. */
const rankOf = ({ group }: DraftLine): number => (group.isPayment ? 2 : group.pricing === null ? 1 : 0)

const withKey = (line: DraftLine, key: string): DraftLine => (line.key === key ? line : { ...line, key })

function joinedPeriod(parts: Parts): PeriodColumns {
  const periods = parts.map(({ priced }) => priced.period)
  const [{ advance_only, cutoff_at }] = periods as [PeriodColumns, ...PeriodColumns[]]
  const sorted = (texts: (string | null)[]): string[] => texts.filter(text => text !== null).sort()
  const starts = sorted(periods.map(({ period_start }) => period_start))
  const ends = sorted(periods.map(({ period_end }) => period_end))
  return {
    period_start: starts[0] ?? cutoff_at,
    period_end: ends.at(-1) ?? cutoff_at,
    advance_only,
    cutoff_at,
    usage_from: sorted(periods.map(({ usage_from }) => usage_from))[0] ?? null,
  }
}

function joinedCustomers(parts: Parts): readonly CustomerView[] | null {
  const shown = parts.flatMap(({ priced }) => priced.beside.customers ?? [])
  const named = parts.some(({ priced }) => priced.beside.customers !== null)
  return named ? [...new Map(shown.map(customer => [customer.id, customer])).values()] : null
}

/** Each different value once, in order. */
export const once = <T>(all: readonly T[]): T[] => [...new Map(all.map(one => [JSON.stringify(one), one])).values()]

// The invoices of a subscription as billing sees them: the period of each, and the charges it bills in advance. A key
// that is known before the invoice exists tells them apart.
import { sql } from 'drizzle-orm'
import type { ReadUow } from '../../../../../shared/database/database.ts'
import { groupBy } from '../../../../../shared/group-by.ts'
import { at, type Instant, instantOf } from '../../../../../shared/time.ts'
import type { PendingInvoice } from '../../../invoices/changes/pending-invoice.ts'
import { invoicesOfSubscriptions } from '../../../invoices/repository.ts'
import { type InvoiceOutline, isOpenEnded } from '../../../invoices/table.ts'
import { type CouponedCharge, textOfCouponed } from '../../charges/couponed-charges.ts'
import { textsOfCutoff } from '../../charges/invoices-of-charges.ts'
import { type Deducted, deductedIn } from '../../pricing/deducted.ts'
import { advanceChargesIn, type Part, type PeriodColumns, textOfLine } from '../../pricing/period-columns.ts'
import { type InvoiceWindow, periodOf } from '../../terms/windows.ts'

export type SubscriptionInvoice = InvoiceOutline &
  PeriodColumns & {
    readonly advance_charges: readonly string[]
    /** What discounts took off; absent where it was not read, or none did. */
    readonly deducted?: readonly Deducted[]
  }

/** The name of the producer of these invoices, as stored with them. */
export const SUBSCRIPTION_BILLING = 'SUBSCRIPTION'

/** The columns of an invoice for a period. Throws when it is for none: this producer always sets them. */
export function periodColumnsOf(row: InvoiceOutline): PeriodColumns {
  const { period_start, period_end, advance_only, cutoff_at, usage_from } = row
  if (period_start === null || period_end === null || advance_only === null || cutoff_at === null)
    throw new Error(`the invoice ${row.id} is for no period of a subscription`)
  return { period_start, period_end, advance_only, cutoff_at, usage_from }
}

type AheadRow = {
  readonly invoice_id: string
  readonly keys: readonly string[]
  /** When the time of each of them begins, in epoch milliseconds. */
  readonly starts: readonly (string | null)[]
  readonly parts: readonly Part[] | null
  readonly couponed: readonly CouponedCharge[] | null
}

const textsOf = ({ keys, starts, parts, couponed }: AheadRow, cutoffAt: Instant): string[] => [
  ...keys,
  ...keys.flatMap((key, place) => {
    const start = starts[place] ?? null
    return start === null ? [] : textsOfCutoff({ key, start: instantOf(Number(start)) }, cutoffAt)
  }),
  ...(parts ?? []).map(textOfLine),
  ...(couponed ?? []).map(textOfCouponed),
]

/** The invoices that hold periods of a subscription, by their cutoff. */
export const loadSubscriptionInvoices = async (uow: ReadUow, subscriptionId: string): Promise<SubscriptionInvoice[]> =>
  (await loadInvoicesOf(uow, [subscriptionId])).get(subscriptionId) ?? []

/**
 * The same for many subscriptions, by subscription; a subscription without invoices is absent. Each is the same text however many are read
 * with it: a run compares what it read in two ways.
 */
export async function loadInvoicesOf(
  uow: ReadUow,
  subscriptionIds: readonly string[],
): Promise<Map<string, SubscriptionInvoice[]>> {
  const { platformId, environment } = uow.tenant
  const rows = await invoicesOfSubscriptions(uow, subscriptionIds)
  // One subscription at a time (`offset 0`): a plan that is kept since the table was empty would read all lines there are.
  const { rows: ahead } = await uow.tx.execute<AheadRow>(sql`
    select invoice_id, array_agg(source ->> 'key' order by source ->> 'key', service_start) as keys,
      array_agg((extract(epoch from service_start) * 1000)::bigint order by source ->> 'key', service_start) as starts,
      json_agg(json_build_object('key', source ->> 'key', 'start', (extract(epoch from service_start) * 1000)::bigint,
        'end', (extract(epoch from service_end) * 1000)::bigint, 'period_end', source -> 'period_end', 'paused', source -> 'paused')
        order by source ->> 'key') filter (where source -> 'period_end' is not null or source -> 'paused' is not null) as parts,
      json_agg(json_build_object('key', source ->> 'key', 'counted', source -> 'counted') order by source ->> 'key')
        filter (where source -> 'counted' is not null) as couponed
    from (select distinct unnest(${sql.param(subscriptionIds)}::text[]) as id) given cross join lateral (
      select invoice_id, source, service_start, service_end from invoice_lines
      where platform_id = ${platformId} and environment = ${environment} and pricing_plan_subscription_id = given.id
        and source @> '{"in_advance": true}' offset 0) l
    group by invoice_id`)
  const charged = new Map(ahead.map(each => [each.invoice_id, each]))
  const own = rows
    .filter(row => row.producer === SUBSCRIPTION_BILLING)
    .map(row => {
      const [columns, own] = [periodColumnsOf(row), charged.get(row.id)]
      return { advance_charges: own ? textsOf(own, at(columns.cutoff_at)) : [], ...row, ...columns }
    })
  return groupBy(own, row => row.pricing_plan_subscription_id ?? '')
}

/**
 * When the earliest invoice starts that may still be computed: one that is not FINAL, or the one after those that are. Null where
 * there is none.
 */
export function firstOpen(rows: readonly SubscriptionInvoice[]): Instant | null {
  if (rows.length === 0) return null
  const next = Math.max(...rows.map(row => at(row.cutoff_at)))
  return instantOf(Math.min(next, ...rows.filter(isOpenEnded).map(row => at(row.period_start))))
}

/** By the start, not the end: a cancellation moves the end of the running period. */
const keyOf = (start: Instant, advanceOnly: boolean): string => `${start}${advanceOnly ? ' advance' : ''}`

export const keyOfRow = (row: Pick<PeriodColumns, 'period_start' | 'advance_only'>): string =>
  keyOf(at(row.period_start), row.advance_only)
export const keyOfWindow = (window: InvoiceWindow): string => keyOf(periodOf(window).start, window.arrears === null)

/**
 * The windows of these keys. Ends with the first one that starts after them all: a subscription without an end has windows up to the
 * year 2200, and the period of a key may be gone.
 */
export function windowsOfKeys(windows: Iterable<InvoiceWindow>, keys: readonly string[]): Map<string, InvoiceWindow> {
  const wanted = new Set(keys)
  const last = Math.max(...keys.map(key => Number.parseInt(key, 10)))
  const found = new Map<string, InvoiceWindow>()
  for (const window of windows) {
    const key = keyOfWindow(window)
    if (wanted.has(key)) found.set(key, window)
    if (wanted.size === found.size || periodOf(window).start > last) break
  }
  return found
}

/**
 * Whether the invoice of this window exists or may still be made. The opening invoice is made together with the invoice that collects
 * the first period, or never: a charge in advance that is added later in that period is billed on the next invoice, as in any other period.
 */
export function mayHaveInvoice(rows: readonly SubscriptionInvoice[], window: InvoiceWindow): boolean {
  if (window.arrears !== null) return true
  const keys = new Set(rows.map(keyOfRow))
  return keys.has(keyOfWindow(window)) || !keys.has(keyOf(periodOf(window).start, false))
}

type Of = { readonly key: string; readonly cutoffAt: Instant }

/**
 * Whether this is the invoice that late usage goes on: the one with the earliest cutoff among those that are OPEN or
 * DRAFT, or are about to be. So there is one at any time, and no other invoice bills the same late usage.
 */
export const takesLateUsage = (rows: readonly SubscriptionInvoice[], of: Of): boolean =>
  !rows.some(row => keyOfRow(row) !== of.key && isOpenEnded(row) && at(row.cutoff_at) < of.cutoffAt)

/** Advance charges that other invoices bill: earlier ones, and later ones that are closed. */
export const billedElsewhere = (rows: readonly SubscriptionInvoice[], of: Of): Set<string> =>
  new Set(billingBefore(rows, of).flatMap(row => row.advance_charges))

/** Those that bill before an invoice: earlier ones, and later ones that are closed. */
export const billingBefore = (rows: readonly SubscriptionInvoice[], of: Of): SubscriptionInvoice[] =>
  rows.filter(row => keyOfRow(row) !== of.key && (at(row.cutoff_at) < of.cutoffAt || !isOpenEnded(row)))

/** The rows with this invoice as it is now, by cutoff; an invoice that no longer holds its period is left out. */
export function withInvoice(
  rows: readonly SubscriptionInvoice[],
  { row, lines }: PendingInvoice,
): SubscriptionInvoice[] {
  const { content: _printed, grants: _granted, custom_fields: _fields, ...outline } = row
  const before = rows.find(({ id }) => id === row.id)
  const columns = periodColumnsOf(outline)
  const advance_charges =
    lines === null ? (before?.advance_charges ?? []) : advanceChargesIn(lines, at(columns.cutoff_at))
  const others = rows.filter(({ id }) => id !== row.id)
  if (!row.holds_period) return others
  const deducted = lines === null ? (before?.deducted ?? []) : deductedIn(row.id, lines)
  const taken = deducted.length === 0 ? {} : { deducted }
  const next = { advance_charges, ...outline, ...columns, ...taken }
  return [...others, next].sort((a, b) => at(a.cutoff_at) - at(b.cutoff_at) || (a.id < b.id ? -1 : 1))
}

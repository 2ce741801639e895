// Bills a story with the code of the product: each invoice is closed at its cutoff, with what is known then.
import { formatInstant, instantOf } from '../../../../../shared/time.ts'
import type { Payers } from '../../../invoices/settlement/funds.ts'
import { chargesOf } from '../../charges/charges.ts'
import type { ClosedUsage } from '../../late/closed-usage.ts'
import { type LateCharge, lateCharge, lateUnits, termOf } from '../../late/late-usage.ts'
import { type Deducted, deductedIn } from '../../pricing/deducted.ts'
import { type PricedInvoice, priceInvoice } from '../../pricing/price-invoice.ts'
import { advanceChargesOf } from '../../refunds/advance-charges.ts'
import { type AdvanceCharge, refundsIn, refundTimes, withRefunded } from '../../refunds/refunds.ts'
import { keyOfWindow } from '../../run/state/subscription-invoices.ts'
import type { BillingInputs } from '../../terms/billing-inputs.ts'
import { endWithRefund } from '../../terms/ends-with-refund.ts'
import { resolveTerms } from '../../terms/price-terms.ts'
import { type InvoiceWindow, invoiceWindows } from '../../terms/windows.ts'
import { type UsageNeed, usageNeeds } from '../../usage/usage-needs.ts'
import { plainUsage } from '../example-inputs.ts'
import { knownWith, type Progress, progressBefore } from './known.ts'
import { PRODUCT_RULES } from './product-rules.ts'
import { DAY, type Story, YEAR_DAYS } from './story.ts'
import { inputsOf } from './story-inputs.ts'

export type Closed = { readonly window: InvoiceWindow; readonly invoice: PricedInvoice }

/** Who pays the invoices beside the customer. */
export type YearFunds = {
  payers(id: string, window: InvoiceWindow): Payers
  /** The invoice is FINAL. */
  closed(id: string, closed: Closed): void
}

/** The invoices of the story, in the order in which they close; `until`: those that close by then. */
export function billYear(
  story: Story,
  { funds, until = Number.POSITIVE_INFINITY }: { readonly funds?: YearFunds; readonly until?: number } = {},
): Closed[] {
  const closed: Closed[] = []
  const keys = new Set<string>()
  const billed = new Set<string>()
  const counted: ClosedUsage[] = []
  let ahead: AdvanceCharge[] = []
  const deducted: Deducted[] = []
  let progress: Progress = { moment: story.start, count: 0 }
  for (;;) {
    const next = nextWindow(story, { keys, closed, ahead }, progress)
    if (next === null || next.issued > until) return closed
    const { window, inputs, issued } = next
    progress = next.progress
    const terms = resolveTerms(inputs)
    const late = lateUnits(counted).flatMap((unit): LateCharge[] => {
      const term = termOf(terms, unit)
      return term ? [lateCharge(term, unit, `${window.cutoffAt}`)] : []
    })
    const needs = usageNeeds([...chargesOf(terms, window, billed), ...late.map(({ charge }) => charge)])
    const id = `invoice${closed.length}`
    const refunds = refundsIn(window, refundTimes(inputs), ahead)
    const invoice = priceInvoice(inputs, {
      terms,
      window,
      ...funds?.payers(id, window),
      billed: new Set(billed),
      deducted: [...deducted],
      usage: new Map(needs.map(need => [need.key, usageIn(story, need, issued)])),
      late,
      refunds,
      finalizedAt: instantOf(issued),
    })
    keys.add(keyOfWindow(window))
    closed.push({ window, invoice })
    funds?.closed(id, { window, invoice })
    for (const key of invoice.advanceCharges) billed.add(key)
    deducted.push(...deductedIn(id, invoice.lines))
    ahead = [
      ...withRefunded(ahead, refunds),
      ...advanceChargesOf(invoice, id).filter(each => !(each.excludingTax.eq('0') && each.includingTax.eq('0'))),
    ]
    const figures = { positions: [], customer_keys: [], names_hash: null, charges: invoice.counted }
    counted.push({ invoice_id: id, subscription_id: 'subscription', ...figures })
  }
}

type Before = {
  readonly keys: ReadonlySet<string>
  readonly closed: readonly Closed[]
  readonly ahead: readonly AdvanceCharge[]
}

/**
 * The next invoice to close, with what is known then: what happens before it closes may move or remove it. One of a schedule that is
 * activated late closes at once.
 */
function nextWindow(story: Story, before: Before, from: Progress) {
  let progress = from
  for (;;) {
    const window = firstOpen(inputsAt(story, progress, before), before.keys)
    const until = window === null ? Number.POSITIVE_INFINITY : Math.max(window.cutoffAt, progress.moment)
    const next = progressBefore(story, progress, until)
    if (next) {
      progress = next
      continue
    }
    if (window === null || window.cutoffAt > story.start + YEAR_DAYS * DAY) return null
    progress = { ...progress, moment: until }
    return { window, issued: until, progress, inputs: inputsAt(story, progress, before) }
  }
}

/** What billing knows at a moment, with the times at which closed invoices end and schedules start, and what they charged after its end. */
function inputsAt(story: Story, progress: Progress, { closed, ahead }: Before): BillingInputs {
  const inputs = inputsOf(story, knownWith(story, progress, PRODUCT_RULES))
  const ends = new Set(closed.flatMap(({ window }) => (window.arrears ? [formatInstant(window.arrears.end)] : [])))
  const resumed = inputs.schedules.map(({ start_at }) => start_at).filter(start => ends.has(start))
  const charged = chargedAfterEnd(inputs, closed, ahead)
  return {
    ...inputs,
    ...(resumed.length === 0 ? {} : { resumed_at: resumed }),
    ...(charged ? { charged_after_end: charged } : {}),
  }
}

/** As it would be read from the database. */
function chargedAfterEnd(
  inputs: BillingInputs,
  closed: Before['closed'],
  ahead: Before['ahead'],
): BillingInputs['charged_after_end'] {
  const ended = endWithRefund(inputs)
  if (!ended || !closed.some(({ window }) => window.cutoffAt === ended.end)) return undefined
  const { end, scheduleIds } = ended
  const after = ahead.filter(
    each =>
      scheduleIds.includes(each.scheduleId) &&
      each.refunded !== true &&
      each.service.end > end &&
      !each.excludingTax.eq(each.deducted),
  )
  if (after.length === 0) return undefined
  const last = instantOf(Math.max(...after.map(({ service }) => service.end)))
  return { start_at: formatInstant(end), end_at: formatInstant(last) }
}

function firstOpen(inputs: BillingInputs, keys: ReadonlySet<string>): InvoiceWindow | null {
  for (const window of invoiceWindows(inputs)) {
    if (!keys.has(keyOfWindow(window))) return window
  }
  return null
}

/** Every need is for the one meter: what has arrived by then of what was used in its time. */
function usageIn({ usage }: Story, { interval }: UsageNeed, cutoff: number) {
  const quantities = usage
    .filter(({ time }) => interval.start <= time && time < interval.end)
    .flatMap(({ versions }) => versions.findLast(({ arrives }) => arrives <= cutoff)?.quantity ?? [])
  if (quantities.length === 0) return []
  return plainUsage(String(quantities.reduce((sum, quantity) => sum + quantity, 0)), quantities.length)
}

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
import { resolveTerms } from '../../terms/price-terms.ts'
import { type InvoiceWindow, invoiceWindows } from '../../terms/windows.ts'
import { type UsageNeed, usageNeeds } from '../../usage/usage-needs.ts'
import { plainUsage } from '../example-inputs.ts'
import { PRODUCT_RULES } from './product-rules.ts'
import { DAY, knownAt, type Story, YEAR_DAYS } from './story.ts'
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
  let from = story.start
  for (;;) {
    const next = nextWindow(story, { keys, closed }, from)
    if (next === null || next.issued > until) return closed
    const { window, inputs, issued } = next
    from = issued
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

type Before = { readonly keys: ReadonlySet<string>; readonly closed: readonly Closed[] }

/**
 * The next invoice to close, with what is known then: what happens before it closes may move or remove it. One of a schedule that is
 * activated late closes at once.
 */
function nextWindow(story: Story, before: Before, from: number) {
  let moment = from
  for (;;) {
    const window = firstOpen(inputsAt(story, moment, before), before.keys)
    const until = window === null ? Number.POSITIVE_INFINITY : Math.max(window.cutoffAt, moment)
    const action = story.actions.find(({ at: time }) => time > moment && time <= until)
    if (action) {
      moment = action.at
      continue
    }
    if (window === null || window.cutoffAt > story.start + YEAR_DAYS * DAY) return null
    return { window, issued: until, inputs: inputsAt(story, until, before) }
  }
}

/** What billing knows at a moment, with the times at which closed invoices end and schedules start. */
function inputsAt(story: Story, moment: number, { closed }: Before): BillingInputs {
  const inputs = inputsOf(story, knownAt(story, moment, PRODUCT_RULES))
  const ends = new Set(closed.flatMap(({ window }) => (window.arrears ? [formatInstant(window.arrears.end)] : [])))
  const resumed = inputs.schedules.map(({ start_at }) => start_at).filter(start => ends.has(start))
  return resumed.length === 0 ? inputs : { ...inputs, resumed_at: resumed }
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

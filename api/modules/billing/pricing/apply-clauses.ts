// What discounts, coupons, minimums and wallets make of rated charges: lines of their own (semantics 5.4).
import { type Clauses, type MinimumBefore, NO_CLAUSES } from '../../../../shared/billing/steps/clauses.ts'
import type { Line } from '../../../../shared/billing/steps/line.ts'
import { isAbout, type StepContext } from '../../../../shared/billing/steps/step.ts'
import { type Decimal, ZERO } from '../../../../shared/decimal.ts'
import type { DraftInvoice } from '../../invoices/document/draft-invoice.ts'
import { roundingOf } from '../../invoices/document/parties.ts'
import { invoiceTax } from '../../invoices/document/tax/invoice-tax.ts'
import { withPayments } from '../../invoices/document/wallet-lines.ts'
import { pausesIn } from '../../subscriptions/ending/inactive-periods.ts'
import type { Charge } from '../charges/charge.ts'
import { fullPeriodOf, paidInAdvance } from '../charges/charges.ts'
import { couponedIn } from '../charges/couponed-charges.ts'
import { allPartsIn } from '../charges/paid-parts.ts'
import type { LateCharge } from '../late/late-usage.ts'
import { onceForInvoice } from '../rating/carried-totals.ts'
import { afterPrices, clauseLines, earlierLines, withDeductions } from '../rating/clause-lines.ts'
import { clausesOf } from '../rating/clauses-of.ts'
import { applicableCoupons, chargesInAdvance, couponDiscounts, onceEach } from '../rating/coupon-clauses.ts'
import { type ExchangeOf, withExchange } from '../rating/exchange.ts'
import { freeUsageOf } from '../rating/free-usage.ts'
import { type RatedCharge, rateCharge } from '../rating/rate-charge.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import {
  advanceScan,
  billingZoneOf,
  collectsNothing,
  invoicedLengthAt,
  periodOf,
  wholePeriodAt,
} from '../terms/windows.ts'
import { withTaken } from './deducted.ts'
import { earlierInvoices } from './earlier-charges.ts'
import type { InvoiceRequest } from './invoice-request.ts'
import { refundedCharges } from './refunded-charges.ts'

/** A draft after its clauses. */
export type AfterClauses = {
  readonly draft: DraftInvoice
  /** Every line with what clauses and wallets did to it; empty where there are no clauses. */
  readonly steps: readonly Line[]
  /** What clauses on prices left of usage, by charge key; only where a minimum counts that. */
  readonly nets: ReadonlyMap<string, Decimal>
}

/** The draft with the lines that clauses make. Every charge counts, including those without a line. */
export function withClauses(
  inputs: BillingInputs,
  { terms, window, billed, deducted: before = [], refunds = [], usage, wallets = [], late = [], rules }: InvoiceRequest,
  {
    rated,
    draft,
    exchangeOf,
  }: { readonly rated: readonly RatedCharge[]; readonly draft: DraftInvoice; readonly exchangeOf: ExchangeOf },
): AfterClauses {
  const all = clausesOf(inputs.schedules, terms, exchangeOf)
  // An invoice that collects no time has no minimum of its own.
  const ofSchedules =
    collectsNothing(window) && all !== NO_CLAUSES
      ? { ...all, commitments: all.commitments.filter(({ of }) => of !== null) }
      : all
  const charges = rated.map(({ charge }) => charge)
  const isInAdvance = chargesInAdvance(charges)
  const coupons = applicableCoupons(inputs, { terms, window, billed, isInAdvance })
  if (ofSchedules === NO_CLAUSES && wallets.length === 0 && coupons.length === 0)
    return { draft, steps: [], nets: new Map() }
  const { amountType, currency } = draft
  const zone = billingZoneOf(inputs)
  const rounding = roundingOf(inputs)
  const givenBack =
    before.length === 0 ? [] : refundedCharges(refunds, terms, { zone, includingTax: amountType === 'INCLUDING_TAX' })
  const counting = onceEach(coupons, { charges, rules: rules ?? null })
  const ofEach = rules?.totalsEachSchedule
    ? ofSchedules.discounts
    : onceForInvoice(ofSchedules.discounts, inputs.schedules, new Set(charges.map(({ schedule }) => schedule.id)))
  const discounts = [
    ...withTaken(ofEach, before, { amountType, currency, rounding, givenBack, billed }),
    ...couponDiscounts(counting, { terms, exchangeOf, rules: rules ?? null }),
  ]
  const freeUsage = freeUsageOf(counting, rated, { usage, rounding })
  const service = periodOf(window)
  const context = {
    currency,
    amountType,
    rounding,
    tax: invoiceTax(draft, draft.dates.day).decision,
    zone,
    pauses: pausesIn(inputs.subscription.inactive_periods),
    invoicePeriod: { service, full: wholePeriodAt(inputs, service.start)?.full ?? service },
  }
  const isCommitted = ofSchedules.commitments.length > 0
  // What earlier invoices charged ahead counts towards the commitment for its time.
  const earlier = isCommitted ? paidInAdvance(terms, advanceScan(window), billed) : []
  const rateAgain = (charge: Charge) => rateCharge(withExchange(charge, exchangeOf), usage, context.rounding)
  const couponed = earlier.length === 0 ? NONE : couponedIn(billed)
  /** A charge ahead as it was left, where it is the same charge today. */
  const asLeft = (line: Line): Line => {
    const counted = couponed.get(line.key)
    return counted?.of.eq(line.exact) ? { ...line, exact: counted.left, because: [] } : line
  }
  const billedBefore = [
    ...earlierInvoices(inputs, earlier, {
      terms,
      window,
      billed,
      clauses: ofSchedules,
      exchangeOf,
      rules: rules ?? null,
    }).flatMap(({ paid, beside, clauses }) => {
      const keys = new Set(paid.map(({ key }) => key))
      return earlierLines([...paid, ...beside].map(rateAgain), clauses, context)
        .filter(({ key }) => keys.has(key))
        .map(asLeft)
    }),
    ...(isCommitted ? billedOfLate(rated, late, { clauses: ofSchedules, context }) : []),
  ]
  const paying = wallets.map(each => ({ ...each, except: linesThatFill(rated, each.walletTypeId) }))
  const clauses = {
    ...ofSchedules,
    discounts,
    freeUsage,
    wallets: paying,
    billedBefore,
    minimumsBefore: minimumsIn(billed),
  }
  const period = invoicedLengthAt(inputs, service.start)
  const beside = draft.lines.filter(({ source }) => 'added_line' in source || 'refund_of_invoice_id' in source)
  const { lines, steps, ...kept } = clauseLines(rated, { beside, late, clauses, context, period, coupons })
  return {
    draft: { ...draft, lines: withPayments(withDeductions([...draft.lines, ...lines], kept)) },
    steps,
    nets: isCommitted ? netsOf(rated, steps, clauses) : new Map(),
  }
}

const NONE: ReturnType<typeof couponedIn> = new Map()

/** The lines by which earlier invoices reached a minimum ahead. */
const minimumsIn = (billed: ReadonlySet<string>): MinimumBefore[] =>
  [...billed].flatMap((key): MinimumBefore[] => {
    if (!key.startsWith('COMMITMENT ')) return []
    const parts = allPartsIn(billed).get(key) ?? []
    if (parts.length === 0) return [{ key, part: null }]
    return parts.map(({ service, paused }) => ({ key, part: { end: service.end, pauses: paused } }))
  })

/** What clauses on prices leave of usage whose minimum counts that: a later invoice needs it when more of the usage arrives. */
function netsOf(rated: readonly RatedCharge[], steps: readonly Line[], clauses: Clauses): Map<string, Decimal> {
  const metered = new Set(rated.flatMap(({ charge }) => (charge.usage ? [charge.key] : [])))
  const onPrices = [...clauses.markups, ...clauses.discounts].filter(({ of }) => of !== null)
  const free = new Set(clauses.freeUsage.flatMap(({ parts }) => parts.map(({ lineKey }) => lineKey)))
  const counted = steps.filter(
    line =>
      metered.has(line.key) &&
      clauses.commitments.some(each => each.of !== null && each.isOfOnePrice && isAbout(each, line)) &&
      (free.has(line.key) || onPrices.some(each => isAbout(each, line))),
  )
  return new Map(counted.map(line => [line.key, afterPrices(line)]))
}

/**
 * What closed invoices billed of the time of late usage, after the markups and discounts on prices. What they took of it is
 * stored; where it is not, percentages take the same again, and coupons are left out.
 */
function billedOfLate(
  rated: readonly RatedCharge[],
  late: readonly LateCharge[],
  { clauses, context }: { readonly clauses: Clauses; readonly context: StepContext },
): Line[] {
  const billed = chargesOfLate(rated, late)
  const again = billed.flatMap(({ each, unit: { printed, net } }) =>
    net?.of.eq(printed) ? [] : [{ ...each, quantity: printed.minus(net?.of ?? ZERO) }],
  )
  const kept = billed.flatMap(({ each, unit: { net } }) => (net ? [{ ...each, quantity: net.left }] : []))
  const keys = new Set(again.map(({ charge }) => charge.key))
  return [
    ...earlierLines(again, clauses, context),
    // What was used counts once.
    ...earlierLines(kept, NO_CLAUSES, context).map(line => (keys.has(line.key) ? { ...line, volume: null } : line)),
  ]
}

/** The closed time of late usage, as the charges that it was. */
const chargesOfLate = (rated: readonly RatedCharge[], late: readonly LateCharge[]) =>
  rated.flatMap(each => {
    const unit = late.find(({ charge }) => charge.key === each.charge.key)?.unit
    if (!unit || !each.before) return []
    const charge = {
      ...each.charge,
      key: unit.unit,
      late: null,
      period: { ...each.charge.period, full: fullPeriodOf(each.charge) },
    }
    return [{ unit, each: { ...each, charge, metered: each.before.volume, exact: unit.exact, before: null } }]
  })

/** The keys of charges that grant to wallets of this type: such a wallet does not pay for what fills it. */
export const linesThatFill = (rated: readonly RatedCharge[], walletTypeId: string | undefined): ReadonlySet<string> =>
  new Set(
    rated.flatMap(({ charge: { key, config } }) =>
      config.wallet_grants?.some(({ wallet_type_id }) => wallet_type_id === walletTypeId) ? [key] : [],
    ),
  )

// Usage that arrived after its invoice was closed, for the next invoice (semantics 1.3, contract: late_event_policy
// NEXT_INVOICE). The time it belongs to is priced again as a whole, by the prices of that time, and what was billed
// before is deducted. Tiers, minimums and every other part of a price therefore work as if the usage had arrived in
// time. Pure.
import { exchangeOf } from '../../../../shared/billing/exchange/exchange-rates.ts'
import { type Decimal, decimal, plain, sum } from '../../../../shared/decimal.ts'
import { findPriceModel } from '../../../../shared/rating/rate.ts'
import { formatInstant, type Interval, instantOf, interval } from '../../../../shared/time.ts'
import type { Charge } from '../charges/charge.ts'
import type { PriceTerm } from '../terms/price-terms.ts'
import { termAt } from '../terms/term-at.ts'
import type { ClosedCharge, ClosedPart, ClosedUsage } from './closed-usage.ts'

/** What closed invoices billed for one price over one pricing period, as far as that period is closed. */
export type LateUnit = {
  readonly unit: string
  /** The closed charge that reaches furthest: its usage is what is rated again. */
  readonly last: ClosedCharge
  readonly service: Interval
  /** The first invoice that billed it, as it was issued. */
  readonly invoiceId: string
  /**
   * The earlier part of the pricing period, where late usage of that part is billed elsewhere: what it costs now is not
   * due here. With the usage that was counted in it. Absent where there is no such part.
   */
  readonly before?: Pick<ClosedCharge, 'usage' | 'number' | 'count' | 'told'>
  /** The amount billed so far, exactly and as printed. */
  readonly exact: Decimal
  readonly printed: Decimal
  /** Of a part of `printed`, what markups, discounts and coupons on prices left of it; absent where no invoice stored that. */
  readonly net?: { readonly of: Decimal; readonly left: Decimal }
  /** Of usage that is priced in credits: what it has cost so far; null where an invoice did not store that. */
  readonly credits: Decimal | null
  /**
   * The part of it billed to each customer, with the usage of that customer at the last billing, as far as the invoices
   * show it.
   */
  readonly parts: ReadonlyMap<string, ClosedPart>
  /** The usage found for all prices of its volume group; for a price without a group, its own usage. */
  readonly together: Pick<ClosedCharge, 'number' | 'count'>
  /** What was counted when it was last billed. */
  readonly counted: Pick<ClosedUsage, 'invoice_id' | 'positions' | 'customer_keys'>
  /** The condition names of the first invoice that billed it: conditions keep their meaning. */
  readonly namesHash: string | null
}

/** A unit to be rated again, as a charge. */
export type LateCharge = { readonly charge: Charge; readonly unit: LateUnit }

type Entry = { readonly of: ClosedUsage; readonly charge: ClosedCharge }

/**
 * The units of closed invoices, given in the order of closing. A lump sum does not depend on usage, so it is never
 * late.
 */
export function lateUnits(closed: readonly ClosedUsage[]): LateUnit[] {
  const entries = new Map<string, [Entry, ...Entry[]]>()
  for (const of of closed) {
    for (const charge of of.charges) {
      if (findPriceModel(charge.pricing_type)?.perPricingPeriod === false) continue
      const known = entries.get(charge.unit)
      if (known) known.push({ of, charge })
      else entries.set(charge.unit, [{ of, charge }])
    }
  }
  return [...entries].flatMap(([unit, list]) =>
    runsOf(list).map(({ run, before }) => ({ ...unitOf(unit, run), ...(before ? { before } : {}) })),
  )
}

type Run = { readonly run: [Entry, ...Entry[]]; readonly before: LateUnit['before'] | null }

/**
 * Parts of a pricing period, each with late usage that is billed together. There is one part, unless the late usage of
 * some time is billed elsewhere: that time separates the parts. The entries of each are in the order of closing.
 */
function runsOf(entries: readonly [Entry, ...Entry[]]): Run[] {
  const runs: { entries: Set<Entry>; before: LateUnit['before'] | null }[] = []
  let elsewhere: ClosedCharge | null = null
  let isOpen = false
  for (const entry of entries.toSorted((a, b) => a.charge.service[0] - b.charge.service[0])) {
    const { charge } = entry
    if (charge.isElsewhere) {
      if (elsewhere === null || charge.usage[1] >= elsewhere.usage[1]) elsewhere = charge
      isOpen = false
      continue
    }
    if (!isOpen) runs.push({ entries: new Set(), before: elsewhere && beforeOf(elsewhere, charge) })
    runs.at(-1)?.entries.add(entry)
    isOpen = true
  }
  return runs.flatMap(({ entries: own, before }) => {
    const [first, ...others] = entries.filter(entry => own.has(entry))
    return first ? [{ run: [first, ...others], before }] : []
  })
}

/** The part of the pricing period before this service. */
const beforeOf = ({ usage, number, count, told }: ClosedCharge, { service }: ClosedCharge): LateUnit['before'] => ({
  usage: [usage[0], service[0]],
  number,
  count,
  ...(told ? { told } : {}),
})

function unitOf(unit: string, entries: readonly [Entry, ...Entry[]]): LateUnit {
  const [first] = entries
  const charges = entries.map(({ charge }) => charge)
  // When two reach equally far, the one closed later counted more.
  const last = charges.reduce((best, each) => (each.usage[1] >= best.usage[1] ? each : best), first.charge)
  const start = Math.min(...charges.map(({ service }) => service[0]))
  const end = Math.max(...charges.map(({ service }) => service[1]))
  return {
    unit,
    last,
    service: interval(instantOf(start), instantOf(end)),
    invoiceId: first.of.combined_into_id ?? first.of.invoice_id,
    exact: sum(charges.map(({ exact }) => decimal(exact))),
    printed: sum(charges.map(({ printed }) => decimal(printed))),
    ...netOfCharges(charges),
    credits: creditsOf(charges),
    parts: partsOf(charges, last),
    together: { number: last.number, count: last.count },
    counted: (entries.at(-1) ?? first).of,
    namesHash: first.of.names_hash,
  }
}

function netOfCharges(charges: readonly ClosedCharge[]): Pick<LateUnit, 'net'> {
  const stored = charges.flatMap(({ printed, net }) => (net === undefined ? [] : [{ printed, net }]))
  if (stored.length === 0) return {}
  const of = sum(stored.map(({ printed }) => decimal(printed)))
  return { net: { of, left: sum(stored.map(({ net }) => decimal(net))) } }
}

/** The credits that these charges cost; null where one of them did not store it. */
function creditsOf(charges: readonly ClosedCharge[]): Decimal | null {
  const stored = charges.flatMap(({ credits }) => credits ?? [])
  return stored.length === charges.length ? sum(stored.map(text => decimal(text))) : null
}

function partsOf(charges: readonly ClosedCharge[], last: ClosedCharge): Map<string, ClosedPart> {
  const parts = new Map<string, ClosedPart>()
  for (const { customer_id, exact, printed } of charges.flatMap(charge => charge.parts ?? [])) {
    const known = parts.get(customer_id)
    const added = (name: 'exact' | 'printed', text: string) => plain(decimal(known?.[name] ?? '0').plus(decimal(text)))
    const { number, count } = last.parts?.find(part => part.customer_id === customer_id) ?? NO_USAGE
    const asked = { exact: added('exact', exact), printed: added('printed', printed) }
    parts.set(customer_id, { customer_id, number, count, ...asked })
  }
  return parts
}

const NO_USAGE = { number: '0', count: '0' }

const timeOf = ({ usage: [start, end] }: Pick<ClosedCharge, 'usage'>): Interval =>
  interval(instantOf(start), instantOf(end))

export const usageOf = ({ last }: LateUnit): Interval => timeOf(last)

/** The price that billed a unit; undefined when the subscription no longer has it. */
export function termOf(
  terms: readonly PriceTerm[],
  { last, service }: Pick<LateUnit, 'last' | 'service'>,
): PriceTerm | undefined {
  const own = terms.filter(
    ({ schedule, item, config, productItem }) =>
      schedule.id === last.schedule_id &&
      item.id === last.item_id &&
      config.id === last.config_id &&
      productItem.id === last.product_item_id,
  )
  return termAt(own, service.start) ?? own[0]
}

/** The unit as a charge of the invoice with this key. Its period equals its service: only lump sums are prorated. */
export function lateCharge(term: PriceTerm, unit: LateUnit, invoiceKey: string): LateCharge {
  const { service, last } = unit
  const usage = usageOf(unit)
  const charge: Charge = {
    ...term,
    key: `${unit.unit} late ${invoiceKey}${unit.before ? ` from ${formatInstant(service.start)}` : ''}`,
    ratingGroup: unit.unit,
    billingPeriod: last.billing_period,
    pricingPeriod: term.config.pricing_period ?? last.billing_period,
    period: { index: 0, full: service, covered: service, fullDays: 0, coveredDays: 0 },
    service,
    seats: null,
    usage,
    billedUsage: unit.before ? timeOf(unit.before) : null,
    // The usage persisted at that time, whatever was persisted since.
    persisted: [unit.before, last].flatMap(each =>
      each?.told ? [{ id: each.told.id, at: instantOf(each.usage[0]), usage: decimal(each.told.usage) }] : [],
    ),
    inAdvance: false,
    late: {
      invoiceId: unit.invoiceId,
      namesHash: unit.namesHash,
      ...(last.usage_rates ? { usageRates: last.usage_rates } : {}),
    },
    ...(last.exchange_rates
      ? {
          exchange: exchangeOf(last.exchange_rates, term.billingCurrency),
        }
      : {}),
  }
  return { charge, unit }
}

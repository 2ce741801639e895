// Usage that arrived after its invoice was closed, for the next invoice (semantics 1.3, contract: late_event_policy
// NEXT_INVOICE). The time it belongs to is priced again as a whole, by the prices of that time, and what was billed
// before is deducted. Tiers, minimums and every other part of a price therefore work as if the usage had arrived in
// time. Pure.
import { exchangeOf } from '../../../../shared/billing/exchange-rates.ts'
import { type Decimal, decimal, plain, sum } from '../../../../shared/decimal.ts'
import { findPriceModel } from '../../../../shared/rating/rate.ts'
import { type Interval, instantOf, interval } from '../../../../shared/time.ts'
import type { Charge } from '../charges/charges.ts'
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
  /** The amount billed so far, exactly and as printed. */
  readonly exact: Decimal
  readonly printed: Decimal
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
  return [...entries].map(([unit, list]) => unitOf(unit, list))
}

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
    credits: creditsOf(charges),
    parts: partsOf(charges, last),
    together: { number: last.number, count: last.count },
    counted: (entries.at(-1) ?? first).of,
    namesHash: first.of.names_hash,
  }
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

export const usageOf = ({ last }: LateUnit): Interval => interval(instantOf(last.usage[0]), instantOf(last.usage[1]))

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
    key: `${unit.unit} late ${invoiceKey}`,
    ratingGroup: unit.unit,
    billingPeriod: last.billing_period,
    pricingPeriod: term.config.pricing_period ?? last.billing_period,
    period: { index: 0, full: service, covered: service, fullDays: 0, coveredDays: 0 },
    service,
    seats: null,
    usage,
    billedUsage: null,
    // The usage persisted at that time, whatever was persisted since.
    persisted: last.told ? [{ id: last.told.id, at: usage.start, usage: decimal(last.told.usage) }] : [],
    inAdvance: false,
    late: {
      invoiceId: unit.invoiceId,
      namesHash: unit.namesHash,
      ...(last.usage_rates ? { usageRates: last.usage_rates } : {}),
    },
    ...(last.exchange_rates
      ? {
          exchange: exchangeOf(last.exchange_rates, {
            from: term.schedule.pricing_currency,
            to: term.billingCurrency,
          }),
        }
      : {}),
  }
  return { charge, unit }
}

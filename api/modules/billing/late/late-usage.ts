// Usage that came after its invoice was closed, for the next one (semantics 1.3, contract: late_event_policy NEXT_INVOICE):
// the time it belongs to is priced again as a whole, by the prices of that time, and asked for less what was asked before.
// So tiers, minimums and everything else of a price are as if it had come in time. Pure.
import { type Decimal, decimal, plain, sum } from '../../../../shared/decimal.ts'
import { findPriceModel } from '../../../../shared/rating/rate.ts'
import { type Interval, instantOf, interval } from '../../../../shared/time.ts'
import type { Charge } from '../charges/charges.ts'
import type { PriceTerm } from '../terms/price-terms.ts'
import type { ClosedCharge, ClosedPart, ClosedUsage } from './closed-usage.ts'

/** What closed invoices asked for one price over one pricing period, as far as it is closed. */
export type LateUnit = {
  readonly unit: string
  /** The closed charge that reaches furthest: its usage is what is rated again. */
  readonly last: ClosedCharge
  readonly service: Interval
  /** The invoice that asked first. */
  readonly invoiceId: string
  /** What was asked so far, exactly and as printed. */
  readonly exact: Decimal
  readonly printed: Decimal
  /** Of that what each customer was asked, with its usage when it was asked last, as far as the invoices show it. */
  readonly parts: ReadonlyMap<string, ClosedPart>
  /** What all prices of its volume group were found to use; of one that stands alone, its own. */
  readonly together: Pick<ClosedCharge, 'number' | 'count'>
  /** What was counted when it was asked last. */
  readonly counted: Pick<ClosedUsage, 'invoice_id' | 'positions' | 'customer_keys'>
  /** Conditions mean what they meant when it was asked first. */
  readonly namesHash: string | null
}

/** A unit to be rated again, as a charge. */
export type LateCharge = { readonly charge: Charge; readonly unit: LateUnit }

type Entry = { readonly of: ClosedUsage; readonly charge: ClosedCharge }

/** The units of closed invoices, given in the order of closing. A lump does not depend on usage, so it is never late. */
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
  // Of two that reach as far the one closed later counted more.
  const last = charges.reduce((best, each) => (each.usage[1] >= best.usage[1] ? each : best), first.charge)
  const start = Math.min(...charges.map(({ service }) => service[0]))
  const end = Math.max(...charges.map(({ service }) => service[1]))
  return {
    unit,
    last,
    service: interval(instantOf(start), instantOf(end)),
    invoiceId: first.of.invoice_id,
    exact: sum(charges.map(({ exact }) => decimal(exact))),
    printed: sum(charges.map(({ printed }) => decimal(printed))),
    parts: partsOf(charges, last),
    together: { number: last.number, count: last.count },
    counted: (entries.at(-1) ?? first).of,
    namesHash: first.of.names_hash,
  }
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

/** The price a unit was billed by; undefined when the subscription no longer has it. */
export const termOf = (terms: readonly PriceTerm[], { last }: LateUnit): PriceTerm | undefined =>
  terms.find(
    ({ schedule, item, config, productItem }) =>
      schedule.id === last.schedule_id &&
      item.id === last.item_id &&
      config.id === last.config_id &&
      productItem.id === last.product_item_id,
  )

/** The unit as a charge of the invoice with this key. Its period is its service: only lumps are prorated. */
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
    usage,
    billedUsage: null,
    // What was persisted then, whatever has been since.
    persisted: last.told ? [{ id: last.told.id, at: usage.start, usage: decimal(last.told.usage) }] : [],
    inAdvance: false,
    late: { invoiceId: unit.invoiceId, namesHash: unit.namesHash },
  }
  return { charge, unit }
}

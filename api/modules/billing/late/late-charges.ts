// Which closed time has usage that its invoices did not count: found by the marks of the log, not by reading usage again.
import { type Database, readTenant } from '../../../../shared/database/database.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { namesAsOf } from '../../catalog/conditions/load-names.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { type PriceTerm, resolveTerms } from '../terms/price-terms.ts'
import { sendersOf } from '../terms/usage-parts.ts'
import type { UsageReader } from '../usage/usage-reader.ts'
import { type ClosedUsage, closedNames } from './closed-usage.ts'
import { type LateCharge, type LateUnit, lateCharge, lateUnits, termOf, usageOf } from './late-usage.ts'

type Priced = { readonly unit: LateUnit; readonly term: PriceTerm }

/**
 * The closed units whose time was touched after it was counted, as charges of the invoice with this key. Misses none: what
 * is counted is told by positions of the log, and whatever changes usage leaves a mark behind its position. One that was
 * touched and comes to nothing is found again; it costs a reading and asks nothing.
 */
export async function findLateCharges(
  deps: { readonly database: Database; readonly usage: UsageReader },
  of: {
    readonly tenant: Tenant
    readonly inputs: BillingInputs
    readonly terms: readonly PriceTerm[]
    readonly closed: readonly ClosedUsage[]
    readonly key: string
  },
): Promise<LateCharge[]> {
  const { tenant, inputs, terms, closed, key } = of
  const units = lateUnits(closed)
  if (units.length === 0) return []
  const priced = units.flatMap((unit): Priced[] => {
    const term = termOf(terms, unit)
    return term?.calculation ? [{ unit, term }] : []
  })
  const touched = await touchedUnits(deps.usage, tenant, inputs, priced)
  if (touched.length === 0) return []
  const hashes = touched.map(({ unit }) => unit.namesHash)
  const names = await readTenant(deps.database, tenant, uow => closedNames(uow, hashes))
  const then = new Map(
    [...names].map(([hash, each]) => [
      hash,
      resolveTerms({ ...inputs, condition_names: namesAsOf(inputs.condition_names, each) }),
    ]),
  )
  return touched.flatMap(({ unit, term }) => {
    const was = unit.namesHash === null ? term : termOf(then.get(unit.namesHash) ?? [], unit)
    return was ? [lateCharge(was, unit, key)] : []
  })
}

const pieceKey = ({ last, counted }: LateUnit): string => `${last.usage.join(' ')} ${counted.invoice_id}`

async function touchedUnits(
  usage: UsageReader,
  tenant: Tenant,
  { attribution, subscription }: BillingInputs,
  priced: readonly Priced[],
): Promise<Priced[]> {
  const customerKeys = sendersOf(attribution, subscription.id).flatMap(sender => sender.customerKeys)
  const ofMeters = [...groupBy(priced, ({ term }) => term.calculation?.meter_reference ?? '')].map(
    ([meterReference, own]) => {
      // Prices of one invoice ask the same of the same time: it is asked once.
      const pieces = new Map(
        own.map(({ unit }) => [
          pieceKey(unit),
          {
            interval: usageOf(unit),
            positions: unit.counted.positions,
            newKeys: customerKeys.filter(key => !unit.counted.customer_keys.includes(key)),
          },
        ]),
      )
      return { meterReference, own, pieces }
    },
  )
  const flags = await usage.touched(
    tenant,
    ofMeters.map(({ meterReference, pieces }) => ({ customerKeys, meterReference, pieces: [...pieces.values()] })),
  )
  return ofMeters.flatMap(({ own, pieces }, place) => {
    const touched = new Set([...pieces.keys()].filter((_, piece) => flags[place]?.[piece] === true))
    return own.filter(({ unit }) => touched.has(pieceKey(unit)))
  })
}

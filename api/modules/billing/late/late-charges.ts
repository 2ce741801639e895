// Finds closed time with usage that its invoices did not count. It uses the marks of the log and reads no usage again.
import { type Database, readTenant } from '../../../../shared/database/database.ts'
import { decimal, plain, sum } from '../../../../shared/decimal.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { namesAsOf } from '../../catalog/conditions/load-names.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { type PriceTerm, resolveTerms } from '../terms/price-terms.ts'
import { sendersOf } from '../terms/usage-parts.ts'
import type { UsageReader } from '../usage/usage-reader.ts'
import { type ClosedUsage, closedNames } from './closed-usage.ts'
import { type LateCharge, type LateUnit, lateCharge, lateUnits, termOf, usageOf } from './late-usage.ts'

/** A unit with late usage, and the price that rates it. */
export type ChangedUnit = { readonly unit: LateUnit; readonly term: PriceTerm }

type LateOf = {
  readonly tenant: Tenant
  readonly inputs: BillingInputs
  readonly terms: readonly PriceTerm[]
  readonly closed: readonly ClosedUsage[]
  /** For each partition of the log: everything up to this position can be read. Absent where that is not known. */
  readonly positions?: readonly number[]
}

/** The closed units whose time was touched after it was counted, as charges of the invoice with this key. */
export const findLateCharges = async (
  deps: { readonly database: Database; readonly usage: UsageReader },
  of: LateOf & { readonly key: string },
): Promise<LateCharge[]> => lateChargesOf(await findLateUnits(deps, of), of.key)

/** These units as charges of the invoice with this key. */
export const lateChargesOf = (units: readonly ChangedUnit[], key: string): LateCharge[] =>
  units.map(({ term, unit }) => lateCharge(term, unit, key))

/**
 * The closed units whose time was touched after it was counted. None is missed: positions of the log tell what was
 * counted, and every change of usage leaves a mark behind that position. A touched unit whose result is unchanged is
 * found again each time; that costs a read and charges nothing.
 */
export async function findLateUnits(
  deps: { readonly database: Database; readonly usage: UsageReader },
  of: LateOf,
): Promise<ChangedUnit[]> {
  const { tenant, inputs, terms, closed } = of
  const units = lateUnits(closed)
  if (units.length === 0) return []
  const priced = units.flatMap((unit): ChangedUnit[] => {
    const term = termOf(terms, unit)
    return term?.calculation ? [{ unit, term }] : []
  })
  const touched = (await changedUnits(deps.usage, of, priced)).map(one => together(one, priced))
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
    return was ? [{ unit, term: was }] : []
  })
}

/** The units that share its volume group: of the other prices of the group, over the same time. */
const othersOf = ({ unit, term }: ChangedUnit, all: readonly ChangedUnit[]): ChangedUnit[] =>
  term.group.length === 0
    ? []
    : all.filter(
        other =>
          term.group.some(({ item, config }) => item.id === other.term.item.id && config.id === other.term.config.id) &&
          other.term.schedule.id === term.schedule.id &&
          other.unit.last.usage[0] === unit.last.usage[0] &&
          other.unit.last.usage[1] === unit.last.usage[1],
      )

function together(one: ChangedUnit, all: readonly ChangedUnit[]): ChangedUnit {
  const others = othersOf(one, all).map(({ unit }) => unit.last)
  const total = (name: 'number' | 'count') => plain(sum([one.unit.last, ...others].map(last => decimal(last[name]))))
  return { ...one, unit: { ...one.unit, together: { number: total('number'), count: total('count') } } }
}

/** Whether the log has come further than this. Where its positions are not known, it may have. */
const isBeyond = (counted: readonly number[], positions: readonly number[] = []): boolean =>
  positions.length === 0 || positions.some((position, partition) => position > (counted[partition] ?? 0))

const pieceKey = ({ last, counted }: LateUnit): string => `${last.usage.join(' ')} ${counted.invoice_id}`

async function changedUnits(
  usage: UsageReader,
  { tenant, inputs, positions }: Omit<LateOf, 'terms' | 'closed'>,
  priced: readonly ChangedUnit[],
): Promise<ChangedUnit[]> {
  const { attribution, subscription } = inputs
  const customerKeys = sendersOf(attribution, subscription.id).flatMap(sender => sender.customerKeys)
  const mayHaveChanged = ({ unit: { counted } }: ChangedUnit): boolean =>
    isBeyond(counted.positions, positions) || customerKeys.some(key => !counted.customer_keys.includes(key))
  const asked = priced
    .filter(mayHaveChanged)
    .flatMap(({ unit, term }) => metersOf(term).map(meterReference => ({ meterReference, unit })))
  const ofMeters = [...groupBy(asked, each => each.meterReference)].map(([meterReference, own]) => {
    // Prices of one invoice need the same answer for the same time, so each is queried once.
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
  })
  if (ofMeters.length === 0) return []
  const flags = await usage.changedSince(
    tenant,
    ofMeters.map(({ meterReference, pieces }) => ({ customerKeys, meterReference, pieces: [...pieces.values()] })),
  )
  const touched = new Set(
    ofMeters.flatMap(({ own, pieces }, place) => {
      const found = new Set([...pieces.keys()].filter((_, piece) => flags[place]?.[piece] === true))
      return own.flatMap(({ unit }) => (found.has(pieceKey(unit)) ? [unit] : []))
    }),
  )
  // What one price of a group uses changes the share of the others.
  return priced.filter(one => [one, ...othersOf(one, priced)].some(({ unit }) => touched.has(unit)))
}

/** The meters whose events change the amount of a price: what it bills, and what decides its tier. */
const metersOf = ({ calculation, tiering }: PriceTerm): string[] => [
  ...new Set([calculation, tiering?.calculation].flatMap(each => each?.meter_reference ?? [])),
]

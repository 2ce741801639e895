// The figures of an invoice that closes, from exactly the events up to the positions stored with it. What it bills and
// what the trace of an event reports are the same set, and later events go on the next invoice, once.
import { groupBy } from '../../../../shared/group-by.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import type { Charge } from '../charges/charge.ts'
import type { BillingInputs } from '../terms/billing-inputs.ts'
import { sendersOf } from '../terms/usage-parts.ts'
import { type UsageNeed, usageNeeds } from './usage-needs.ts'
import { type ReadUsage, readNeeds, type UsageDeps, type UsageReader } from './usage-reader.ts'

/** How long to wait for the marks of what may have been read; without them raw rows are read, which costs more. */
const SETTLE_MS = 2_000

/**
 * `read`, which was read after `positions`, without the events behind them in the log. Rows are stored before their
 * marks. So this first waits for the marks of everything that may be in `read`; then the marks tell which time was
 * touched since. Usually none was: only when something late arrives at that very moment, and only such time is read
 * again.
 */
export async function exactUsage(
  deps: UsageDeps,
  of: {
    readonly tenant: Tenant
    readonly inputs: BillingInputs
    readonly charges: readonly Charge[]
    readonly positions: readonly number[]
    readonly read: ReadUsage
  },
): Promise<ReadUsage> {
  if (usageNeeds(of.charges).length === 0) return of.read
  return await exactlyUpTo(deps, { ...of, marked: await settleMarks(deps.usage, of.positions) })
}

/** NOTHING_CAME: the log still ends at the positions. MARKED: the marks of everything that was read exist. LATE: that takes too long. */
export type Marked = 'NOTHING_CAME' | 'MARKED' | 'LATE'

/** Waits until the marks of everything that was read before exist. `positions`: it was read after them. */
export async function settleMarks(usage: UsageReader, positions?: readonly number[]): Promise<Marked> {
  if (positions && (await usage.endsAt(positions))) return 'NOTHING_CAME'
  return (await usage.settle(SETTLE_MS)) ? 'MARKED' : 'LATE'
}

/** The same, once it is known whether the marks exist. */
export async function exactlyUpTo(
  deps: UsageDeps,
  of: {
    readonly tenant: Tenant
    readonly inputs: BillingInputs
    readonly charges: readonly Charge[]
    readonly positions: readonly number[]
    readonly read: ReadUsage
    readonly marked: Marked
  },
): Promise<ReadUsage> {
  const { tenant, inputs, positions, read, marked } = of
  if (marked === 'NOTHING_CAME') return read
  const all = usageNeeds(of.charges)
  const needs = marked === 'MARKED' ? await changedNeeds(deps.usage, { tenant, inputs, needs: all, positions }) : all
  if (needs.length === 0) return read
  const again = await readNeeds(deps, { tenant, inputs, needs, upTo: positions })
  return {
    usage: new Map([...read.usage, ...again.usage]),
    usageByCustomer: read.usageByCustomer && new Map([...read.usageByCustomer, ...(again.usageByCustomer ?? [])]),
  }
}

type Since = {
  readonly tenant: Tenant
  readonly inputs: BillingInputs
  readonly needs: readonly UsageNeed[]
  readonly positions: readonly number[]
}

/** Those of these needs whose usage changed after these positions, by whole hours. Needs that are asked at once are one statement. */
export async function changedNeeds(
  usage: UsageReader,
  { tenant, inputs, needs, positions }: Since,
): Promise<UsageNeed[]> {
  const customerKeys = sendersOf(inputs.attribution, inputs.subscription.id).flatMap(sender => sender.customerKeys)
  const ofMeters = [...groupBy(needs, ({ calculation }) => calculation.meter_reference)]
  const flags = await usage.changedSince(
    tenant,
    ofMeters.map(([meterReference, own]) => ({
      customerKeys,
      meterReference,
      pieces: own.map(({ interval }) => ({ interval, positions, newKeys: [] })),
    })),
  )
  return ofMeters.flatMap(([, own], place) => own.filter((_, piece) => flags[place]?.[piece] === true))
}

// What became of what a platform sent, minute by minute: as its gateways counted it, and as the log and the catalog have it now.
import { and, gte, lt, sql } from 'drizzle-orm'
import type { Static } from 'typebox'
import { type Database, type ReadUow, readTenant } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import {
  at,
  formatInstant,
  type Instant,
  type Interval,
  instantOf,
  interval,
  parseInstant,
} from '../../../../shared/time.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import type { EventStore } from '../../../usage/event-store.ts'
import type { EventKey } from '../../../usage/stored-events.ts'
import type { UsageReader } from '../../billing/usage/usage-reader.ts'
import { loadFacts } from '../events/trace/load-facts.ts'
import { type IngestionQueryShape, MINUTES_MAX, VERDICTS_MAX } from './schema.ts'
import { ingestionMinutes } from './table.ts'

export type IngestionDeps = { readonly database: Database; readonly usage: UsageReader; readonly events: EventStore }

const MINUTE_MS = 60_000
const DEFAULT_MINUTES = 60
/** By outcome, in one minute. */
type Totals = Map<string, number>

/** The minutes of this time. Throws INVALID_FIELD for a time that is empty or longer than MINUTES_MAX minutes. */
export async function readIngestion(
  deps: IngestionDeps,
  tenant: Tenant,
  request: Static<typeof IngestionQueryShape>,
): Promise<object> {
  const now = deps.database.clock.now()
  const within = timeOf(request, now)
  const until = await deps.usage.upToDateUntil(deps.database.clock)
  const repeats = await deps.events.repeatsByMinute(tenant, within)
  const keys = await deps.events.received(tenant, { within, limit: VERDICTS_MAX + 1 })
  const { counted, unmatched } = await readTenant(deps.database, tenant, async uow => ({
    counted: await countedIn(uow, within),
    unmatched: await notMatched(uow, keys.slice(0, VERDICTS_MAX)),
  }))
  const complete = completeFrom(keys, within)
  const minutes = Array.from({ length: (within.end - within.start) / MINUTE_MS }, (_, index) =>
    instantOf(within.start + index * MINUTE_MS),
  )
  return {
    object_type: 'USAGE_INGESTION',
    from: formatInstant(within.start),
    to: formatInstant(within.end),
    usage_counted_until: formatInstant(until),
    lag_seconds: Math.max(0, Math.floor((now - until) / 1_000)),
    not_matched_from: formatInstant(complete),
    data: minutes.map(minute => {
      const { ACCEPTED = 0, REPEATED = 0, ...refused } = Object.fromEntries(counted.get(minute) ?? [])
      return {
        minute: formatInstant(minute),
        accepted: ACCEPTED,
        repeated: REPEATED + (repeats.get(minute) ?? 0),
        refused: Object.entries(refused).map(([code, requests]) => ({ code, requests })),
        not_matched:
          minute < complete
            ? null
            : [...(unmatched.get(minute) ?? [])].sort().map(([variant, events]) => ({ variant, events })),
      }
    }),
  }
}

const floor = (instant: Instant): Instant => instantOf(instant - (instant % MINUTE_MS))
const ceil = (instant: Instant): Instant => instantOf(Math.ceil(instant / MINUTE_MS) * MINUTE_MS)

function timeOf({ from, to }: Static<typeof IngestionQueryShape>, now: Instant): Interval {
  const read = (text: string | undefined): Instant | null => (text === undefined ? null : parseInstant(text))
  const end = ceil(read(to) ?? instantOf(now + 1))
  const start = floor(read(from) ?? instantOf(end - DEFAULT_MINUTES * MINUTE_MS))
  if (end <= start && to === undefined)
    throw new AppError('INVALID_FIELD', 'from is in the future; without to, the answer ends now.', { field: 'from' })
  if (end <= start) throw new AppError('INVALID_FIELD', 'to must be after from.', { field: 'to' })
  if (end - start > MINUTES_MAX * MINUTE_MS) {
    const message = `from and to may be at most ${MINUTES_MAX} minutes (a day) apart; choose a shorter time.`
    throw new AppError('INVALID_FIELD', message, { field: 'from' })
  }
  return interval(start, end)
}

/** What all gateways together counted, by minute. */
async function countedIn(uow: ReadUow, { start, end }: Interval): Promise<Map<Instant, Totals>> {
  const m = ingestionMinutes
  const rows = await uow.tx
    .select({ minute: m.minute, outcome: m.outcome, total: sql<string>`sum(${m.total})` })
    .from(m)
    .where(and(inThisTenant(uow, m), gte(m.minute, formatInstant(start)), lt(m.minute, formatInstant(end))))
    .groupBy(m.minute, m.outcome)
    .orderBy(m.minute, m.outcome)
  const found = new Map<Instant, Totals>()
  for (const { minute, outcome, total } of rows) totalsOf(found, at(minute)).set(outcome, Number(total))
  return found
}

/** Events that no invoice has or will have, by minute and reason. */
async function notMatched(uow: ReadUow, keys: readonly EventKey[]): Promise<Map<Instant, Totals>> {
  const facts = await loadFacts(uow, keys)
  const found = new Map<Instant, Totals>()
  for (const key of keys) {
    const decision = facts.decide(key)
    if (decision.type !== 'NOT_MATCHED') continue
    const totals = totalsOf(found, floor(key.receivedAt))
    totals.set(decision.variant, (totals.get(decision.variant) ?? 0) + 1)
  }
  return found
}

function totalsOf(found: Map<Instant, Totals>, minute: Instant): Totals {
  const totals = found.get(minute) ?? new Map<string, number>()
  found.set(minute, totals)
  return totals
}

/** From which minute on every event was decided on: of more than VERDICTS_MAX only the last received are. */
function completeFrom(keys: readonly EventKey[], { start }: Interval): Instant {
  const last = keys[VERDICTS_MAX]
  return last === undefined ? start : instantOf(floor(last.receivedAt) + MINUTE_MS)
}

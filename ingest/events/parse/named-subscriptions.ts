// Whose the subscription is that an event names: another customer's is a mistake that is refused at the door (semantics 1.3).
// One that does not exist is not: it may be created after the event, and until then the event is not matched.
import { sql } from 'drizzle-orm'
import { namedSubscription, subscriptionKey } from '../../../shared/attribution/selector.ts'
import { asSystem, type Database } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import type { Logger } from '../../../shared/process/logger.ts'
import type { Tenant } from '../../../shared/tenant.ts'
import type { UsageEvent } from './parse.ts'

export type NamedSubscriptions = {
  /**
   * Refuses with INVALID_FIELD when an event names a subscription of another customer; at once where all are in memory.
   * `pathOf` gives the path of an event, '' or ending in a dot. While PostgreSQL is away nothing is refused: then the event is
   * stored, and shows why it is not matched.
   */
  check(tenant: Tenant, events: readonly UsageEvent[], pathOf: (index: number) => string): void | Promise<void>
}

type Owner = { readonly id: string; readonly reference: string | null }

/** What a name means does not change but by a new name; long enough to spare a busy sender's look-ups. */
const KNOWN_MS = 10_000
const UNKNOWN_MS = 1_000
const KNOWN_MAX = 20_000

function isNamed({ subscription }: UsageEvent): boolean {
  if (subscription === '') return false
  const { kind } = namedSubscription(subscription)
  return kind === 'ID' || kind === 'REFERENCE'
}

const fieldOf = ({ subscription }: UsageEvent): string =>
  namedSubscription(subscription).kind === 'ID' ? 'pricing_plan_subscription_id' : 'pricing_plan_subscription_reference'

export function createNamedSubscriptions(options: {
  database: Database
  logger: Logger
  nowMs: () => number
}): NamedSubscriptions {
  const { database, logger, nowMs } = options
  /** By tenant and key, in the order they were learnt. */
  const known = new Map<string, { owner: Owner | null; untilMs: number }>()
  const placeOf = (tenant: Tenant, key: string): string => `${tenant.platformId}\n${tenant.environment}\n${key}`

  const remember = (place: string, owner: Owner | null): void => {
    known.delete(place)
    known.set(place, { owner, untilMs: nowMs() + (owner ? KNOWN_MS : UNKNOWN_MS) })
    for (const oldest of known.keys()) {
      if (known.size <= KNOWN_MAX) break
      known.delete(oldest)
    }
  }
  const learn = async (tenant: Tenant, keys: readonly string[]): Promise<void> => {
    const owners = await readOwners(database, tenant, keys)
    for (const key of keys) remember(placeOf(tenant, key), owners.get(key) ?? null)
  }
  const refuseAnothers = (tenant: Tenant, events: readonly UsageEvent[], pathOf: (index: number) => string): void => {
    for (const [index, event] of events.entries()) {
      if (!isNamed(event)) continue
      const owner = known.get(placeOf(tenant, event.subscription))?.owner
      if (!owner || event.customerKey === owner.id || event.customerKey === owner.reference) continue
      throw new AppError(
        'INVALID_FIELD',
        `The subscription of this event belongs to another customer than ${JSON.stringify(event.customerKey)}: name one of that customer's, or none.`,
        { field: `${pathOf(index)}${fieldOf(event)}`, status: 400 },
      )
    }
  }

  return {
    check: (tenant, events, pathOf) => {
      const missing = new Set<string>()
      for (const event of events) {
        if (!isNamed(event)) continue
        const found = known.get(placeOf(tenant, event.subscription))
        if (!found || found.untilMs <= nowMs()) missing.add(event.subscription)
      }
      if (missing.size === 0) return refuseAnothers(tenant, events, pathOf)
      return learn(tenant, [...missing])
        .catch((error: unknown) => {
          logger.warn(
            { err: error },
            'the subscriptions that events name could not be looked up; they are taken as they are',
          )
        })
        .then(() => refuseAnothers(tenant, events, pathOf))
    },
  }
}

async function readOwners(database: Database, tenant: Tenant, keys: readonly string[]): Promise<Map<string, Owner>> {
  const asked = keys.map(namedSubscription)
  const idsAsked = asked.flatMap(each => (each.kind === 'ID' ? [each.id] : []))
  const referencesAsked = asked.flatMap(each => (each.kind === 'REFERENCE' ? [each.reference] : []))
  const result = await asSystem(database, 'find-named-subscriptions', tx =>
    tx.execute<{ id: string; reference: string | null; customer_id: string; customer_reference: string | null }>(sql`
      select s.id, s.reference, c.id as customer_id, c.reference as customer_reference
      from pricing_plan_subscriptions s
      join customers c on c.platform_id = s.platform_id and c.environment = s.environment and c.id = s.customer_id
      where s.platform_id = ${tenant.platformId} and s.environment = ${tenant.environment}
        and (s.id = any(${sql.param(idsAsked)}::text[]) or s.reference = any(${sql.param(referencesAsked)}::text[]))`),
  )
  const owners = new Map<string, Owner>()
  for (const row of result.rows) {
    const owner = { id: row.customer_id, reference: row.customer_reference }
    owners.set(subscriptionKey({ kind: 'ID', id: row.id }), owner)
    if (row.reference !== null) owners.set(subscriptionKey({ kind: 'REFERENCE', reference: row.reference }), owner)
  }
  return owners
}

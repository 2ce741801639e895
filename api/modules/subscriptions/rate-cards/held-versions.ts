// The versions of a rate card that subscriptions hold in turn, with the meters that each prices.
import { sql } from 'drizzle-orm'
import { type Zone, zoneOf } from '../../../../shared/billing/periods.ts'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { instantOf } from '../../../../shared/time.ts'
import { loadRateCards, type RateCardVersions, versionSpans } from '../../catalog/pricing-plans/rate-card.ts'

/** The time of a schedule on a rate card. */
export type HeldCard = {
  readonly subscriptionId: string
  readonly planId: string
  readonly start_ms: number
  readonly end_ms: number | null
}
export type HeldVersion = {
  readonly start_ms: number
  readonly end_ms: number | null
  readonly version_id: string
  readonly meters: readonly string[]
}

/** Gives the versions that price a time, as billing cuts it. Runs no query where there is no rate card. */
export async function loadHeldVersions(
  uow: ReadUow,
  all: readonly HeldCard[],
): Promise<(held: HeldCard) => HeldVersion[]> {
  if (all.length === 0) return () => []
  const cards = await loadRateCards(
    uow,
    all.map(({ planId }) => planId),
  )
  const meters = await metersOf(uow, [...cards.values()].flat())
  const zones = await zonesOf(
    uow,
    all.map(({ subscriptionId }) => subscriptionId),
  )
  return ({ subscriptionId, planId, start_ms, end_ms }) => {
    const zone = zones.get(subscriptionId)
    if (!zone) throw new Error(`the zone of ${subscriptionId} was not read`)
    const span = { start: instantOf(start_ms), end: end_ms === null ? null : instantOf(end_ms) }
    return versionSpans(cards.get(planId) ?? [], span, zone).map(({ pricing_plan_version_id, span: part }) => ({
      start_ms: part.start,
      end_ms: part.end,
      version_id: pricing_plan_version_id,
      meters: meters.get(pricing_plan_version_id) ?? [],
    }))
  }
}

async function metersOf(uow: ReadUow, versions: RateCardVersions): Promise<ReadonlyMap<string, readonly string[]>> {
  if (versions.length === 0) return new Map()
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ id: string; meters: string[] }>(sql`
    select priced.pricing_plan_version_id as id, array_agg(m.reference order by m.reference) as meters
    from priced_meters priced
    join meters m on m.platform_id = priced.platform_id and m.environment = priced.environment and m.id = priced.meter_id
    where priced.platform_id = ${platformId} and priced.environment = ${environment}
      and priced.pricing_plan_version_id in ${versions.map(each => each.pricing_plan_version_id)}
    group by priced.pricing_plan_version_id`)
  return new Map(rows.map(({ id, meters }) => [id, meters]))
}

/** The zone in which the days of each are cut: of the customer, else of the billing entity, else of the platform (semantics 0.4). */
async function zonesOf(uow: ReadUow, subscriptionIds: readonly string[]): Promise<ReadonlyMap<string, Zone>> {
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<{ id: string; zone: string | null }>(sql`
    select s.id, coalesce(c.timezone, e.timezone, p.timezone) as zone
    from pricing_plan_subscriptions s
    join customers c on c.platform_id = s.platform_id and c.environment = s.environment and c.id = s.customer_id
    join billing_entities e on e.platform_id = s.platform_id and e.environment = s.environment and e.id = s.billing_entity_id
    join platforms p on p.platform_id = s.platform_id and p.environment = s.environment
    where s.platform_id = ${platformId} and s.environment = ${environment} and s.id in ${[...new Set(subscriptionIds)]}`)
  return new Map(
    rows.map(({ id, zone: name }) => {
      const zone = zoneOf(name ?? 'UTC')
      if (zone === null) throw new Error(`not a stored time zone: ${name}`)
      return [id, zone]
    }),
  )
}

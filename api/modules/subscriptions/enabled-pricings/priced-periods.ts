// What schedules sell in turn whose prices change over time: the versions of a rate card, and ADDON pricings while they are enabled.

import { sql } from 'drizzle-orm'
import type { Span } from '../../../../shared/billing/periods.ts'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import { instantOf } from '../../../../shared/time.ts'
import { isOptionalIn } from '../../catalog/pricing-plans/checks/optional.ts'
import { loadRateCards, versionSpans } from '../../catalog/pricing-plans/rate-card.ts'
import { zonesOfSubscriptions } from '../billing-time/billing-calendar.ts'
import { enabledSpans } from './enabled-spans.ts'
import type { EnabledPricing } from './schema.ts'

/** A schedule as the loading of its priced periods needs it: its time, its plan and what it enables. */
export type PricedSchedule = {
  readonly subscriptionId: string
  /** The plan, if it is a rate card. */
  readonly cardId: string | null
  readonly versionId: string
  /** The version of its own prices, where that stands beside another; absent where it has none. */
  readonly ownVersionId?: string | null
  readonly enabled: readonly EnabledPricing[]
  readonly start_ms: number
  readonly end_ms: number | null
}
/** A time in which a schedule sells the same pricings. */
export type PricedPeriod = {
  readonly start_ms: number
  readonly end_ms: number | null
  readonly version_id: string
  /** The version of what it sells besides; absent where there is none. */
  readonly own_version_id?: string
  readonly meters: readonly string[]
  readonly pricing_ids?: readonly string[]
}

/** Gives what a schedule sells in turn, cut as billing cuts it. Runs no query where there is none. */
export async function loadPricedPeriods(
  uow: ReadUow,
  all: readonly PricedSchedule[],
): Promise<(held: PricedSchedule) => PricedPeriod[]> {
  if (all.length === 0) return () => []
  const cards = await loadRateCards(
    uow,
    all.flatMap(({ cardId }) => cardId ?? []),
  )
  const versionIds = [
    ...all.flatMap(({ versionId, ownVersionId: own }) => [versionId, ...(own ? [own] : [])]),
    ...[...cards.values()].flat().map(each => each.pricing_plan_version_id),
  ]
  const pricings = await pricingsOf(uow, versionIds)
  const zones = await zonesOfSubscriptions(
    uow,
    all.map(({ subscriptionId }) => subscriptionId),
  )
  return ({ subscriptionId, cardId, versionId, ownVersionId, enabled, start_ms, end_ms }) => {
    const zone = zones.get(subscriptionId)
    if (!zone) throw new Error(`the zone of ${subscriptionId} was not read`)
    const span = { start: instantOf(start_ms), end: end_ms === null ? null : instantOf(end_ms) }
    const versions =
      cardId === null
        ? [{ pricing_plan_version_id: versionId, span }]
        : versionSpans(cards.get(cardId) ?? [], span, zone)
    const own = ownVersionId && ownVersionId !== versionId ? ownVersionId : null
    return versions.flatMap(({ pricing_plan_version_id: id, span: during }) => {
      const sold = [...(pricings.get(id) ?? []), ...(pricings.get(own ?? '') ?? [])]
      const periods = pricedPeriods(id, sold, { enabled, during })
      return own === null ? periods : periods.map(period => ({ ...period, own_version_id: own }))
    })
  }
}

type MeteredPricing = { readonly id: string; readonly addon: boolean; readonly meters: readonly string[] }

/** The parts of a time in which a version sells the same pricings. Pure. */
export function pricedPeriods(
  version_id: string,
  pricings: readonly MeteredPricing[],
  { enabled, during }: { readonly enabled: readonly EnabledPricing[]; readonly during: Span },
): PricedPeriod[] {
  const metersOf = (sold: readonly MeteredPricing[]) => [...new Set(sold.flatMap(({ meters }) => meters))].sort()
  if (!pricings.some(({ addon }) => addon))
    return [{ start_ms: during.start, end_ms: during.end, version_id, meters: metersOf(pricings) }]
  const times = new Map(
    pricings.map(({ id, addon }) => [id, addon ? enabledSpans(enabled, id, during) : [during]] as const),
  )
  const cuts = new Set<number>([
    during.start,
    ...[...times.values()].flat().flatMap(({ start, end }) => (end === null ? [start] : [start, end])),
  ])
  const edges = [...cuts].filter(cut => during.end === null || cut < during.end).sort((a, b) => a - b)
  return edges.map((start, index) => {
    const sold = pricings.filter(({ id }) =>
      times.get(id)?.some(time => time.start <= start && (time.end === null || start < time.end)),
    )
    const end_ms = edges[index + 1] ?? during.end
    return { start_ms: start, end_ms, version_id, meters: metersOf(sold), pricing_ids: sold.map(({ id }) => id).sort() }
  })
}

/** By version, its pricings with the meters that they price. */
async function pricingsOf(
  uow: ReadUow,
  versionIds: readonly string[],
): Promise<ReadonlyMap<string, readonly MeteredPricing[]>> {
  const { platformId, environment } = uow.tenant
  const { rows } = await uow.tx.execute<MeteredPricing & { version_id: string }>(sql`
    select p.pricing_plan_version_id as version_id, p.id,
      ${isOptionalIn('p')} as addon,
      array(
        select distinct m.reference from jsonb_array_elements(p.items) as item
        cross join lateral jsonb_array_elements_text(item -> 'product_item_ids') as priced (product_item_id)
        join product_items i on i.platform_id = p.platform_id and i.environment = p.environment and i.id = priced.product_item_id
        join meter_value_calculations c on c.platform_id = p.platform_id and c.environment = p.environment
          and c.id = i.meter_value_calculation_id
        join meters m on m.platform_id = p.platform_id and m.environment = p.environment and m.id = c.meter_id
      ) as meters
    from pricings p
    where p.platform_id = ${platformId} and p.environment = ${environment}
      and p.pricing_plan_version_id = any(${sql.param([...new Set(versionIds)])})
    order by p.id`)
  return groupBy(rows, row => row.version_id)
}

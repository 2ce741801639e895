// What entitlements name stays: the lists of pricings and schedules carry no foreign keys, so a change looks here.
import { type SQL, sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Feature } from './table.ts'

/**
 * Throws COULD_NOT_DELETE_RESOURCE while an entitlement grants the feature. The caller holds its row, and whoever saves
 * entitlements locks the features they name, so neither can miss the other.
 */
export async function refuseWhileGranted(uow: Uow, feature: Feature): Promise<void> {
  const place = await findEntitlement(uow, feature, sql`true`)
  if (!place) return
  const message = `The ${place.kind} ${place.id} grants it; remove the entitlement there first.`
  throw new AppError('COULD_NOT_DELETE_RESOURCE', message, { resourceId: feature.id, resourceType: 'FEATURE' })
}

/** Throws INVALID_FIELD when a value that an entitlement grants would go. The caller holds the feature, as above. */
export async function refuseLostValues(uow: Uow, feature: Feature, previous: Feature | null): Promise<void> {
  const lost = (previous?.enum_values ?? []).filter(value => !feature.enum_values?.includes(value))
  if (lost.length === 0) return
  const place = await findEntitlement(uow, feature, sql`e ->> 'enum' = any(${sql.param(lost)}::text[])`)
  if (!place) return
  const message = `${JSON.stringify(place.value)} cannot be removed: the ${place.kind} ${place.id} grants it.`
  throw new AppError('INVALID_FIELD', message, { field: 'enum_values' })
}

type Place = { readonly kind: 'pricing' | 'schedule'; readonly id: string; readonly value: string | null }

/** One place where an entitlement `e` to the feature stands. */
async function findEntitlement(uow: Uow, feature: Feature, condition: SQL): Promise<Place | undefined> {
  const { platformId, environment } = uow.tenant
  const names = JSON.stringify([{ feature_id: feature.id }])
  const within = (kind: Place['kind'], table: SQL): SQL => sql`
    select ${kind}::text as kind, t.id, e ->> 'enum' as value from ${table} t, jsonb_array_elements(t.entitlements) e
    where t.platform_id = ${platformId} and t.environment = ${environment} and t.entitlements <> '[]'
      and t.entitlements @> ${names}::jsonb and e ->> 'feature_id' = ${feature.id} and ${condition}`
  const { rows } = await uow.tx.execute<Place>(sql`
    ${within('pricing', sql`pricings`)} union all ${within('schedule', sql`pricing_plan_schedules`)} limit 1`)
  return rows[0]
}

// Entitlements in the form they are stored and shown in: the feature by both of its names, and the value its type names.
import { and, or } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idsOf } from '../../../../shared/ids.ts'
import { notFound } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { featureResource } from './feature.ts'
import type { Entitlement, EntitlementInput } from './schema.ts'
import { type Feature, type FeatureType, features } from './table.ts'

/** The member that holds what is granted of a feature of this type. */
const VALUE_OF = {
  SWITCH: 'switch',
  NUMBER: 'number',
  ENUM: 'enum',
  AMOUNT: 'amount',
  STRING: 'string',
} as const satisfies Record<FeatureType, keyof Entitlement>
const VALUES = Object.values(VALUE_OF)

/**
 * The entitlements of a pricing or a schedule, canonical. Keeps the features they name from being deleted until commit.
 * Throws RESOURCE_NOT_FOUND, MISSING_FIELD or INVALID_FIELD with the path below `entitlements` (semantics 2).
 */
export async function canonicalEntitlements(uow: Uow, entries: readonly EntitlementInput[]): Promise<Entitlement[]> {
  if (entries.length === 0) return []
  const rows = await lockNamed(uow, entries)
  const seen = new Set<string>()
  return entries.map((entry, index) => {
    const field = `entitlements.${index}`
    const feature = featureOf(entry, rows, field)
    if (seen.has(feature.id)) {
      const message = `The feature ${feature.reference} is in this list already; grant it once.`
      throw new AppError('INVALID_FIELD', message, { field })
    }
    seen.add(feature.id)
    checkValue(entry, feature, field)
    return {
      feature_id: feature.id,
      feature_reference: feature.reference,
      override: entry.override ?? false,
      overwrite: entry.overwrite ?? false,
      number: entry.number ?? null,
      switch: entry.switch ?? null,
      amount: entry.amount ?? null,
      enum: entry.enum ?? null,
      string: entry.string ?? null,
    }
  })
}

async function lockNamed(uow: Uow, entries: readonly EntitlementInput[]): Promise<Feature[]> {
  const ids = entries.flatMap(entry => entry.feature_id ?? [])
  const references = entries.flatMap(entry => entry.feature_reference ?? [])
  const named = or(anyOf(features.id, idsOf('feat', [...ids, ''])), anyOf(features.reference, [...references, '']))
  return await uow.tx
    .select()
    .from(features)
    .where(and(inThisTenant(uow, features), named))
    .for('key share')
}

function featureOf(entry: EntitlementInput, rows: readonly Feature[], field: string): Feature {
  const { feature_id: id, feature_reference: reference } = entry
  const given = id ?? reference
  if (given === null || given === undefined) {
    const message = 'An entitlement names its feature by feature_id or feature_reference.'
    throw new AppError('MISSING_FIELD', message, { field: `${field}.feature_id` })
  }
  const name = id === given ? 'feature_id' : 'feature_reference'
  const found = rows.find(row => row[name === 'feature_id' ? 'id' : 'reference'] === given)
  if (!found) throw notFound(featureResource, given, `${field}.${name}`)
  if (reference !== null && reference !== undefined && found.reference !== reference) {
    const message = 'feature_id and feature_reference name different features; send one of them.'
    throw new AppError('INVALID_FIELD', message, { field: `${field}.feature_reference` })
  }
  return found
}

function checkValue(entry: EntitlementInput, feature: Feature, field: string): void {
  const needed = VALUE_OF[feature.type]
  const about = `The feature ${feature.reference} is of type ${feature.type}`
  const foreign = VALUES.find(name => name !== needed && (entry[name] ?? null) !== null)
  if (foreign !== undefined) {
    throw new AppError('INVALID_FIELD', `${about}; it takes ${needed}, not ${foreign}.`, {
      field: `${field}.${foreign}`,
    })
  }
  if ((entry[needed] ?? null) === null) {
    throw new AppError('MISSING_FIELD', `${about}; say how much of it in ${needed}.`, { field: `${field}.${needed}` })
  }
  if (feature.type !== 'ENUM' || feature.enum_values?.includes(entry.enum ?? '')) return
  const message = `${JSON.stringify(entry.enum)} is none of the values of the feature ${feature.reference}: ${(feature.enum_values ?? []).slice(0, 20).join(', ')}.`
  throw new AppError('INVALID_FIELD', message, { field: `${field}.enum` })
}

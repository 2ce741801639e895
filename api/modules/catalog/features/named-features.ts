// Features in the form in which a product names them: by id and by reference.
import { and, or } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idsOf } from '../../../../shared/ids.ts'
import { notFound } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { featureResource } from './feature.ts'
import { features } from './table.ts'

type Given = { readonly id?: string | null; readonly reference?: string | null }
export type NamedFeature = { readonly object_type: 'FEATURE'; readonly id: string; readonly reference: string }

/**
 * Each by both names. Keeps them from being deleted until commit. Throws RESOURCE_NOT_FOUND, MISSING_FIELD or INVALID_FIELD with the
 * path below `features`.
 */
export async function namedFeatures(uow: Uow, given: readonly Given[]): Promise<NamedFeature[]> {
  if (given.length === 0) return []
  const ids = given.flatMap(({ id }) => id ?? [])
  const references = given.flatMap(({ reference }) => reference ?? [])
  const rows = await uow.tx
    .select({ id: features.id, reference: features.reference })
    .from(features)
    .where(
      and(
        inThisTenant(uow, features),
        or(anyOf(features.id, idsOf('feat', [...ids, ''])), anyOf(features.reference, [...references, ''])),
      ),
    )
    .for('key share')
  const named = given.map(({ id, reference }, index): NamedFeature => {
    const field = `features.${index}`
    const name = id ?? reference
    if (!name) throw new AppError('MISSING_FIELD', 'Name the feature by id or by reference.', { field: `${field}.id` })
    const found = rows.find(row => (id ? row.id : row.reference) === name)
    if (!found) throw notFound(featureResource, name, `${field}.${id ? 'id' : 'reference'}`)
    if (!reference || found.reference === reference) return { object_type: 'FEATURE', ...found }
    const message = 'id and reference name different features; send one of them.'
    throw new AppError('INVALID_FIELD', message, { field: `${field}.reference` })
  })
  const twice = named.findIndex(({ id }, index) => named.findIndex(other => other.id === id) < index)
  if (twice === -1) return named
  throw new AppError('INVALID_FIELD', 'The product has this feature already; name it once.', {
    field: `features.${twice}`,
  })
}

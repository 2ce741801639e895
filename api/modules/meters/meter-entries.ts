// The values and properties a meter lists: resolved when the meter is saved, kept from deletion while it lists them.
import { and, inArray, or, sql } from 'drizzle-orm'
import type { Uow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import type { Resource, Row } from '../../resource/define-resource.ts'
import { inThisTenant } from '../../resource/tenant-condition.ts'
import { type MeterEntry, meters } from './table.ts'

/**
 * The entries with id, reference and required filled in, each given by id or reference. Locks what they name until commit.
 * Throws RESOURCE_NOT_FOUND or INVALID_FIELD with the position of the first that is wrong.
 */
export async function resolveEntries(
  uow: Uow,
  resource: Resource,
  field: 'meter_values' | 'meter_properties',
  entries: readonly { id?: string; reference?: string; required?: boolean }[],
): Promise<MeterEntry[]> {
  if (entries.length === 0) return []
  const table = resource.table as typeof resource.table & { reference: never }
  const ids = entries.flatMap(entry => (entry.id === undefined ? [] : [entry.id]))
  const references = entries.flatMap(entry => (entry.reference === undefined ? [] : [entry.reference]))
  const rows: Row[] = await uow.tx
    .select()
    .from(table)
    .where(
      and(inThisTenant(uow, table), or(inArray(table.id, [...ids, '']), inArray(table.reference, [...references, '']))),
    )
    .for('key share')
  const seen = new Set<string>()
  return entries.map((entry, index) => {
    const found = rows.find(row =>
      entry.id === undefined ? row['reference'] === entry.reference : row['id'] === entry.id,
    )
    const given = entry.id ?? entry.reference
    if (!found || (entry.reference !== undefined && found['reference'] !== entry.reference)) {
      throw new AppError('RESOURCE_NOT_FOUND', `There is no ${resource.objectType} ${JSON.stringify(given)}.`, {
        field: `${field}.${index}`,
      })
    }
    if (seen.has(found['id'])) {
      throw new AppError('INVALID_FIELD', `${JSON.stringify(given)} is listed twice.`, { field: `${field}.${index}` })
    }
    seen.add(found['id'])
    return { id: found['id'], reference: found['reference'], required: entry.required ?? false }
  })
}

/** Throws COULD_NOT_DELETE_RESOURCE while a meter lists the value or property. */
export async function refuseWhileListed(
  uow: Uow,
  column: 'meter_values' | 'meter_properties',
  row: { id: string },
): Promise<void> {
  const listed = JSON.stringify([{ id: row.id }])
  const [meter] = await uow.tx
    .select({ reference: meters.reference })
    .from(meters)
    .where(and(inThisTenant(uow, meters), sql`${meters[column]} @> ${listed}::jsonb`))
    .limit(1)
  if (meter)
    throw new AppError('COULD_NOT_DELETE_RESOURCE', `The meter ${meter.reference} lists it; remove it there first.`)
}

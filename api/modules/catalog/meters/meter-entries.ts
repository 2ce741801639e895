// The values and properties a meter lists: resolved when the meter is saved.
import { and, or } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idsOf } from '../../../../shared/ids.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { type MeterEntry, meterProperties, meterValues } from './table.ts'

/** What a meter lists, and where it is stored. */
const LISTED = {
  meter_values: { table: meterValues, objectType: 'METER_VALUE' },
  meter_properties: { table: meterProperties, objectType: 'METER_PROPERTY' },
} as const

/**
 * The entries with id, reference and required filled in, each given by id or reference. Locks what they name until commit.
 * Throws RESOURCE_NOT_FOUND or INVALID_FIELD with the position of the first that is wrong.
 */
export async function resolveEntries(
  uow: Uow,
  field: keyof typeof LISTED,
  entries: readonly { id?: string; reference?: string; required?: boolean }[],
): Promise<MeterEntry[]> {
  if (entries.length === 0) return []
  const { table, objectType } = LISTED[field]
  const ids = entries.flatMap(entry => (entry.id === undefined ? [] : [entry.id]))
  const references = entries.flatMap(entry => (entry.reference === undefined ? [] : [entry.reference]))
  const rows = await uow.tx
    .select({ id: table.id, reference: table.reference })
    .from(table)
    .where(
      and(
        inThisTenant(uow, table),
        or(anyOf(table.id, idsOf('metv', [...ids, ''])), anyOf(table.reference, [...references, ''])),
      ),
    )
    .for('key share')
  const seen = new Set<string>()
  return entries.map((entry, index) => {
    const found = rows.find(row => (entry.id === undefined ? row.reference === entry.reference : row.id === entry.id))
    const given = entry.id ?? entry.reference
    if (!found || (entry.reference !== undefined && found.reference !== entry.reference)) {
      throw new AppError('RESOURCE_NOT_FOUND', `There is no ${objectType} ${JSON.stringify(given)}.`, {
        field: `${field}.${index}`,
      })
    }
    if (seen.has(found.id)) {
      throw new AppError('INVALID_FIELD', `${JSON.stringify(given)} is listed twice.`, { field: `${field}.${index}` })
    }
    seen.add(found.id)
    return { id: found.id, reference: found.reference, required: entry.required ?? false }
  })
}

// Changes the values of a variable as one change, and says of each value what became of it.
import { createHash } from 'node:crypto'
import { and, eq, isNotNull, isNull, lt, sql } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import type { Id } from '../../../../shared/ids.ts'
import { formatInstant, instantOf } from '../../../../shared/time.ts'
import { saveChange } from '../../../resource/commands.ts'
import { findOne, lockOne, notFound } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { meterPropertyResource } from '../meters/meter-property.ts'
import type { MeterProperty } from '../meters/table.ts'
import { meterPropertyVariableValues as stored } from './table.ts'
import { meterPropertyVariableResource } from './variable.ts'
import { canonicalValues, refuseBoth, refuseTooMany } from './variable-values.ts'

export type ValueChange = { readonly add: readonly string[]; readonly remove: readonly string[] }
export type ValueOutcome = {
  /** Values this request put in. */
  readonly added: string[]
  /** Values this request took out. */
  readonly removed: string[]
  /** Values that were already as the request wants them, by another request. */
  readonly skipped: string[]
}

/** How long a repeat of a removal is recognised; as long as an Idempotency-Key. */
const REMEMBERED_MS = 48 * 3_600_000

/**
 * Puts `add` in and takes `remove` out, as one change; changes of one variable queue. A value of either list that was so
 * already is `skipped`. A value keeps which request put it in or took it out, so the same request sent again, also with its
 * values in another order, is answered the same list and changes nothing: what it did is still its doing, until another
 * request undoes it or a removal is 48 hours old. Throws RESOURCE_NOT_FOUND, or INVALID_FIELD for a value the property
 * cannot have, a value in both lists, or more than 10,000 values; then nothing is changed. Emits UPDATED when the list
 * changed. (contract: Values patch body)
 */
export async function changeValues(uow: Uow, id: string, request: ValueChange): Promise<ValueOutcome> {
  const variable = await lockOne(uow, meterPropertyVariableResource, id)
  if (!variable) throw notFound(meterPropertyVariableResource, id)
  const property = await findProperty(uow, variable.meter_property_id)
  const add = canonicalValues(property, request.add, 'add')
  const remove = canonicalValues(property, request.remove, 'remove')
  refuseBoth(add, remove)
  const change = changeOf(add, remove)
  const known = await valuesAmong(uow, variable.id, [...add, ...remove])
  const isIn = (value: string): boolean => known.get(value)?.removed === false
  const fresh = add.filter(value => !isIn(value))
  const gone = remove.filter(isIn)
  const count = variable.value_count + fresh.length - gone.length
  refuseTooMany(count, 'add')
  const own = (value: string): boolean => known.get(value)?.change === change
  const outcome = {
    added: add.filter(value => !isIn(value) || own(value)),
    removed: remove.filter(value => isIn(value) || own(value)),
    skipped: [
      ...add.filter(value => isIn(value) && !own(value)),
      ...remove.filter(value => !isIn(value) && !own(value)),
    ],
  }
  if (fresh.length === 0 && gone.length === 0) return outcome
  await insertValues(uow, variable.id, fresh, change)
  await removeValues(uow, variable.id, gone, change)
  await saveChange(uow, meterPropertyVariableResource, variable, { value_count: count })
  return outcome
}

/** The same for the same request, whatever the order and repetition of its values. */
export const changeOf = (add: readonly string[], remove: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([[...add].sort(), [...remove].sort()]))
    .digest('hex')

type Known = { readonly removed: boolean; readonly change: string }

async function valuesAmong(uow: Uow, variableId: Id<'mepv'>, values: readonly string[]): Promise<Map<string, Known>> {
  const rows = await uow.tx
    .select({ value: stored.value, removed_at: stored.removed_at, change: stored.change })
    .from(stored)
    .where(and(ofVariable(uow, variableId), among(values)))
  return new Map(rows.map(row => [row.value, { removed: row.removed_at !== null, change: row.change }]))
}

const ofVariable = (uow: Uow, variableId: Id<'mepv'>) =>
  and(inThisTenant(uow, stored), eq(stored.meter_property_variable_id, variableId))
// One parameter however many values: a statement takes 65,535 of them.
const among = (values: readonly string[]) =>
  sql`${stored.value} in (select jsonb_array_elements_text(${JSON.stringify(values)}::jsonb))`

/** Puts values in that are not in the list: new ones, and ones that were taken out before. */
export async function insertValues(
  uow: Uow,
  variableId: string,
  values: readonly string[],
  change: string,
): Promise<void> {
  if (values.length === 0) return
  const { platformId, environment } = uow.tenant
  await uow.tx.execute(sql`
    insert into meter_property_variable_values (platform_id, environment, meter_property_variable_id, value, added_at, change)
    select ${platformId}, ${environment}::environment, ${variableId}, value, ${formatInstant(uow.now)}::timestamptz, ${change}
    from jsonb_array_elements_text(${JSON.stringify(values)}::jsonb) as value
    on conflict (platform_id, environment, meter_property_variable_id, value)
    do update set added_at = excluded.added_at, removed_at = null, change = excluded.change`)
}

async function removeValues(
  uow: Uow,
  variableId: Id<'mepv'>,
  values: readonly string[],
  change: string,
): Promise<void> {
  const now = formatInstant(uow.now)
  // What was taken out long ago is forgotten here, so that a list that changes for years does not grow for years.
  const forgotten = formatInstant(instantOf(uow.now - REMEMBERED_MS))
  await uow.tx
    .delete(stored)
    .where(and(ofVariable(uow, variableId), isNotNull(stored.removed_at), lt(stored.removed_at, forgotten)))
  if (values.length === 0) return
  await uow.tx
    .update(stored)
    .set({ removed_at: now, change })
    .where(and(ofVariable(uow, variableId), isNull(stored.removed_at), among(values)))
}

/** The property of a variable; its foreign key says there is one. */
async function findProperty(uow: Uow, id: string): Promise<MeterProperty> {
  const property = await findOne(uow, meterPropertyResource, id)
  if (!property) throw new Error(`the meter property ${id} of a variable is gone`)
  return property as MeterProperty
}

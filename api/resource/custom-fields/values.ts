// The values of custom fields that a resource has: read for its view, and saved with it.
import { and, asc, eq, inArray, type SQL, sql } from 'drizzle-orm'
import type { ReadUow, Uow } from '../../../shared/database/database.ts'
import { preparedQuery } from '../../../shared/database/statements/prepared.ts'
import type { Transaction } from '../../../shared/database/transaction.ts'
import { AppError } from '../../../shared/errors.ts'
import { idOf } from '../../../shared/ids.ts'
import type { FieldAction } from '../changes/field-actions.ts'
import { inThisTenant } from '../tenant-condition.ts'
import { type ResolvedField, resolveGiven } from './resolve-given.ts'
import { type CustomFieldView, type GivenCustomField, type ResourceWithCustomFields, VALUES_MAX } from './schema.ts'
import { customFields as f, customFieldValues as v } from './table.ts'

/** The custom fields of the resources that `ofResources` names, of the tenant in the placeholders `platform` and `environment`. */
export const fieldsWhere = (tx: Transaction, ofResources: SQL) =>
  tx
    .select({
      resource_id: v.resource_id,
      id: f.id,
      reference: f.reference,
      multiple: f.multiple_values,
      values: sql<string[]>`array_agg(${v.value} order by ${v.position})`,
    })
    .from(v)
    .innerJoin(f, and(eq(f.platform_id, v.platform_id), eq(f.environment, v.environment), eq(f.id, v.custom_field_id)))
    .where(
      and(
        eq(v.platform_id, sql.placeholder('platform')),
        eq(v.environment, sql.placeholder('environment')),
        sql`${v.resource_id} ${ofResources}`,
      ),
    )
    .groupBy(v.resource_id, f.id, f.reference, f.multiple_values)
    .orderBy(sql`${f.reference} collate "C"`)

/** Asked with every read of a resource that may have custom fields. */
const valuesOfResources = preparedQuery('custom fields of resources', (tx, name) =>
  fieldsWhere(tx, sql`= any(${sql.placeholder('resources')}::text[])`).prepare(name),
)
type FieldRow = Awaited<ReturnType<typeof valuesOfResources>>[number]

/** The values of these resources, by id and in the order of their references; a resource without any is absent. */
export async function customFieldsOf(uow: ReadUow, resourceIds: readonly string[]): Promise<FieldsById> {
  if (resourceIds.length === 0) return new Map()
  const { platformId: platform, environment } = uow.tenant
  return fieldsById(await valuesOfResources(uow.tx, { platform, environment, resources: [...new Set(resourceIds)] }))
}

type FieldsById = ReadonlyMap<string, readonly CustomFieldView[]>

/** The views of what `fieldsWhere` found, by resource. */
export function fieldsById(rows: readonly FieldRow[]): FieldsById {
  const found = new Map<string, CustomFieldView[]>()
  for (const { resource_id, id, reference, multiple, values } of rows) {
    const view = multiple ? { id, reference, values } : { id, reference, value: values[0] ?? '' }
    found.set(resource_id, [...(found.get(resource_id) ?? []), view])
  }
  return found
}

const known = new WeakMap<object, readonly CustomFieldView[]>()

/** Caches the custom fields of a row that were read with it, or that it has none yet, so that they are not looked for. */
export const cacheFields = (row: object, fields: readonly CustomFieldView[]): void => void known.set(row, fields)

/** As `customFieldsOf`, of rows: what is known of them is not read again. */
export async function customFieldsOfRows(uow: ReadUow, rows: readonly { readonly id: string }[]): Promise<FieldsById> {
  const asked = rows.filter(row => !known.has(row)).map(({ id }) => id)
  const found = new Map(await customFieldsOf(uow, asked))
  for (const row of rows) {
    const fields = known.get(row)
    if (fields) found.set(row.id, fields)
  }
  return found
}

/** A change of the values of one resource: fields with the values they then have. */
export type ValueChange = readonly ResolvedField[]

export type GivenFields = {
  /** As in the body; undefined when it says nothing of custom fields. */
  readonly given: readonly GivenCustomField[] | undefined
  readonly action?: FieldAction | undefined
}

/**
 * What `given` would change of the values of a resource; null for nothing. By default the list replaces the one there is. ADD sets a
 * value, or adds values to a field that takes several; REMOVE takes these values away, or all of a field named without values; CLEAR
 * takes away everything. Throws RESOURCE_NOT_FOUND, MISSING_FIELD or INVALID_FIELD with the place in the body.
 */
export async function planValues(
  uow: Uow,
  of: { readonly resourceType: ResourceWithCustomFields; readonly resourceId: string | null },
  { given, action = 'REPLACE' }: GivenFields,
): Promise<ValueChange | null> {
  if (given === undefined && action !== 'CLEAR') return null
  const before = of.resourceId === null ? new Map<string, string[]>() : await storedValues(uow, of.resourceId)
  const named = await resolveGiven(uow, of.resourceType, given ?? [])
  const wanted = named.map(each => ({ ...each, ...valuesAfter(each, before.get(each.field.id) ?? [], action) }))
  const kept = new Set(named.map(({ field }) => field.id))
  const dropped =
    action === 'REPLACE' || action === 'CLEAR' ? [...before.keys()].filter(id => !kept.has(idOf('cufi', id))) : []
  const gone = await resolveGiven(
    uow,
    of.resourceType,
    dropped.map(id => ({ id })),
  )
  const change = [...wanted, ...gone].filter(({ field, values }) => !sameValues(values, before.get(field.id) ?? []))
  return change.length === 0 ? null : change
}

function valuesAfter(
  { field, values, places }: ResolvedField,
  before: readonly string[],
  action: FieldAction,
): Pick<ResolvedField, 'values' | 'places'> {
  if (action === 'REMOVE') {
    const left = values.length === 0 ? [] : before.filter(value => !values.includes(value))
    return { values: left, places: left.map(() => 'custom_fields') }
  }
  if (action !== 'ADD' || !field.multiple_values) return { values, places }
  const fresh = values.filter(value => !before.includes(value))
  const all = [...before, ...fresh]
  if (all.length > VALUES_MAX) {
    const message = `${field.reference} would have ${all.length} values; at most ${VALUES_MAX} are possible.`
    throw new AppError('INVALID_FIELD', message, { field: 'custom_fields' })
  }
  return { values: all, places: all.map(value => places[values.indexOf(value)] ?? 'custom_fields') }
}

const sameValues = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((value, index) => value === b[index])

async function storedValues(uow: ReadUow, resourceId: string): Promise<Map<string, string[]>> {
  const rows = await uow.tx
    .select({ id: v.custom_field_id, value: v.value })
    .from(v)
    .where(and(inThisTenant(uow, v), eq(v.resource_id, resourceId)))
    .orderBy(asc(v.custom_field_id), asc(v.position))
  const found = new Map<string, string[]>()
  for (const { id, value } of rows) found.set(id, [...(found.get(id) ?? []), value])
  return found
}

/**
 * Saves a change. Throws CUSTOM_FIELD_VALUE_ALREADY_EXISTS with the place of a value that another resource has, where the field holds
 * each value once: the database decides, so of two transactions one has it.
 */
export async function saveValues(uow: Uow, resourceId: string, change: ValueChange): Promise<void> {
  await uow.tx.delete(v).where(
    and(
      inThisTenant(uow, v),
      eq(v.resource_id, resourceId),
      inArray(
        v.custom_field_id,
        change.map(({ field }) => field.id),
      ),
    ),
  )
  const rows = change.flatMap(({ field, values, places }) =>
    values.map((value, position) => ({ field, value, position, place: places[position] ?? 'custom_fields' })),
  )
  if (rows.length === 0) return
  const { platformId, environment } = uow.tenant
  const inserted = await uow.tx
    .insert(v)
    .values(
      // In one order, so that two transactions that want the same values wait for each other and do not deadlock.
      rows
        .toSorted((a, b) => compare(a.field.id, b.field.id) || compare(a.value, b.value))
        .map(({ field, value, position }) => ({
          platform_id: platformId,
          environment,
          resource_id: resourceId,
          custom_field_id: field.id,
          position,
          value,
          is_unique: field.unique_value,
        })),
    )
    .onConflictDoNothing({
      target: [v.platform_id, v.environment, v.custom_field_id, v.value],
      where: sql`is_unique`,
    })
    .returning({ id: v.custom_field_id, value: v.value })
  if (inserted.length === rows.length) return
  const taken = rows.find(({ field, value }) => !inserted.some(row => row.id === field.id && row.value === value))
  if (taken) throw await alreadyThere(uow, taken)
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

async function alreadyThere(
  uow: Uow,
  { field, value, place }: { readonly field: ResolvedField['field']; readonly value: string; readonly place: string },
): Promise<AppError> {
  const [owner] = await uow.tx
    .select({ id: v.resource_id })
    .from(v)
    .where(and(inThisTenant(uow, v), eq(v.custom_field_id, field.id), eq(v.value, value)))
  const who = owner ? `The ${field.resource_type} ${owner.id}` : `Another ${field.resource_type}`
  return new AppError(
    'CUSTOM_FIELD_VALUE_ALREADY_EXISTS',
    `${who} has the value ${JSON.stringify(value)} of ${field.reference}, and each value is there once; choose another.`,
    { field: place, ...(owner ? { resourceId: owner.id } : {}), resourceType: field.resource_type },
  )
}

/** Deletes what a resource that is deleted had. */
export async function deleteValues(uow: Uow, resourceId: string): Promise<void> {
  await uow.tx.delete(v).where(and(inThisTenant(uow, v), eq(v.resource_id, resourceId)))
}

// The commands every plain resource shares. Each runs in the caller's unit of work and leaves its event in the outbox.
import { isDeepStrictEqual } from 'node:util'
import type { CHANGES, EventType } from '../../shared/contracts/event-types.ts'
import type { Uow } from '../../shared/database/database.ts'
import { AppError } from '../../shared/errors.ts'
import { emit } from '../outbox.ts'
import { identifiedBy } from './custom-fields/identify.ts'
import type { GivenCustomField } from './custom-fields/schema.ts'
import { type GivenFields, noteFields, planValues, saveValues, type ValueChange } from './custom-fields/values.ts'
import { CUSTOM_FIELDS, customFieldsType, type Resource, type Row, type StoredRow } from './define-resource.ts'
import { type FieldActions, withFieldActions } from './field-actions.ts'
import { followSave, guardDelete, guardSave } from './rules.ts'
import { deleteRow, insertRow, lockExisting, lockOne, requireAll, updateRow } from './store.ts'
import { viewOf } from './views.ts'

/** What a command gives of a new row; the rest is the service's. */
type NewRow<R> = Partial<R> & Row

/**
 * Creates a resource from a validated body. Returns its row. Emits CREATED. A null counts as left out, unless the body `isWhole`: then
 * it stays null, and defaults fill only what is absent. `id`: one that `newId` gave for it before.
 */
export async function createResource<R extends StoredRow>(
  uow: Uow,
  resource: Resource<R>,
  body: Row,
  { isWhole = false, id }: { readonly isWhole?: boolean; readonly id?: string | undefined } = {},
): Promise<R> {
  const { columns, fields } = split(resource, body)
  const given = isWhole ? columns : withoutNulls(columns)
  const blank: Row = Object.fromEntries(Object.keys(resource.fields).map(name => [name, null]))
  if (resource.statuses) blank.status = 'DRAFT'
  const defaults = await resource.defaults?.(uow, rowOf(resource, given))
  const values = await prepared(uow, resource, { ...blank, ...defaults, ...given }, null)
  checkFirstStatus(resource, values)
  await checkReferences(uow, resource, values)
  await resource.check?.(uow, values, null)
  return await saveNew(uow, resource, values, await planned(uow, resource, { row: null, ...fields }), id)
}

/** Saves a new row of these values and custom fields, and emits CREATED. For commands that have made their own checks. */
export async function saveNew<R extends StoredRow>(
  uow: Uow,
  resource: Resource<R>,
  values: NewRow<R>,
  fieldChange: ValueChange | null = null,
  id?: string,
): Promise<R> {
  await guardSave(uow, resource, rowOf(resource, values), null)
  const row = await insertRow<R>(uow, resource, withoutNulls(values), id)
  if (fieldChange) await saveValues(uow, row.id, fieldChange)
  else noteFields(row, [])
  await resource.afterSave?.(uow, row, null)
  await followSave(uow, resource, row, null)
  await emit(uow, {
    type: changeOf(resource, 'CREATED'),
    objectId: row.id,
    data: await viewOf(uow, resource, row),
    previous: null,
  })
  return row
}

/**
 * Merges `body` into the resource: objects merge member by member, scalars replace, null clears, and lists replace or do as
 * `actions` say. Saves every column that is another one then, also those that `prepare` and `resolve` derived, and its custom
 * fields. A body that changes nothing writes nothing and emits nothing. Emits UPDATED with the previous state.
 */
export async function updateResource<R extends StoredRow>(
  uow: Uow,
  resource: Resource<R>,
  idOrReference: string,
  body: Row,
  actions: FieldActions = {},
): Promise<R> {
  const previous = await lockExisting(uow, resource, idOrReference)
  const { columns: patch, fields } = split(resource, withFieldActions(resource, previous, body, actions))
  const merged = await withDefaults(uow, resource, mergePatch(previous, patch), Object.keys(patch))
  const next = await prepared(uow, resource, merged, previous)
  const changed = changedColumns(resource, previous, next)
  const fieldChange = await planned(uow, resource, { row: previous, ...fields, action: actions[CUSTOM_FIELDS] })
  if (changed.length === 0) return fieldChange ? await saveChange(uow, resource, previous, {}, fieldChange) : previous
  // A field that is no column has changed something when a column that was not patched is another one.
  const derived = changed.some(name => !(name in patch))
  for (const name of Object.keys(patch)) {
    if (changed.includes(name) || (derived && !(name in resource.table))) checkChange(resource, previous, name)
  }
  if (changed.includes('status')) checkTransition(resource, statusOf(previous), statusOf(next))
  await checkReferences(uow, resource, next, changed)
  await resource.check?.(uow, next, previous)
  return await saveChange(uow, resource, previous, pick(next, changed), fieldChange)
}

/** Moves the resource to `status` by its rules; moving to where it is changes nothing. Emits UPDATED. */
export async function changeStatus<R extends StoredRow>(
  uow: Uow,
  resource: Resource<R>,
  idOrReference: string,
  status: string,
): Promise<R> {
  const previous = await lockExisting(uow, resource, idOrReference)
  if (statusOf(previous) === status) return previous
  checkTransition(resource, statusOf(previous), status)
  const next = rowOf(resource, { ...previous, status })
  await resource.check?.(uow, next, previous)
  return await saveChange(uow, resource, previous, pick(next, ['status']))
}

/** Saves `values` and custom fields over `previous` and emits UPDATED. For commands that have made their own checks. */
export async function saveChange<R extends StoredRow>(
  uow: Uow,
  resource: Resource<R>,
  previous: R,
  values: Partial<R>,
  fieldChange: ValueChange | null = null,
): Promise<R> {
  // Before the change is made, since what a view computes is read from the database.
  const before = await viewOf(uow, resource, previous)
  await guardSave(uow, resource, { ...previous, ...values }, previous)
  const row = await updateRow(uow, resource, previous.id, values)
  if (fieldChange) await saveValues(uow, row.id, fieldChange)
  await resource.afterSave?.(uow, row, previous)
  await followSave(uow, resource, row, previous)
  await emit(uow, {
    type: changeOf(resource, 'UPDATED'),
    objectId: row.id,
    data: await viewOf(uow, resource, row),
    previous: before,
  })
  return row
}

/** Deletes the resource; one with a status only while DRAFT (semantics 0.6). Returns what was deleted. Emits DELETED. */
export async function deleteResource<R extends StoredRow>(
  uow: Uow,
  resource: Resource<R>,
  idOrReference: string,
): Promise<R> {
  const row = await lockExisting(uow, resource, idOrReference)
  const status = statusOf(row)
  if (resource.statuses && status !== 'DRAFT') {
    const message = `Only a DRAFT can be deleted, and this one is ${status}; archive it instead.`
    throw new AppError('COULD_NOT_DELETE_RESOURCE', message, {
      field: 'status',
      resourceId: row.id,
      resourceType: resource.objectType,
    })
  }
  await saveRemoval(uow, resource, row)
  return row
}

/** Deletes a row, which the caller holds, and emits DELETED. For commands that have made their own checks of its status. */
export async function saveRemoval<R extends StoredRow>(uow: Uow, resource: Resource<R>, row: R): Promise<void> {
  await resource.beforeDelete?.(uow, row)
  await guardDelete(uow, resource, row)
  const view = await viewOf(uow, resource, row)
  await deleteRow(uow, resource, row.id)
  await emit(uow, { type: changeOf(resource, 'DELETED'), objectId: row.id, data: view, previous: null })
}

/** How a PUT finds the resource it is about: by its reference, by the value of a custom field, or its command has (null: none). */
export type Identifier = { readonly customField: string } | { readonly id: string | null } | 'reference'

/** Creates the resource, or updates the one with the same reference or value of a custom field. Says which. */
export async function upsertResource<R extends StoredRow>(
  uow: Uow,
  resource: Resource<R>,
  given: Row,
  { identifier = 'reference', actions = {} }: { identifier?: Identifier; actions?: FieldActions } = {},
): Promise<{ row: R; created: boolean }> {
  const existing = await identified(uow, resource, given, identifier)
  const body = withFieldActions(resource, existing, given, actions)
  if (!existing) return { row: await createResource(uow, resource, forCreation(body, actions)), created: true }
  // The whole resource is sent, so what may not change may still be repeated: only a difference is refused.
  const patch = Object.fromEntries(
    Object.entries(body).filter(([name, value]) => !isDeepStrictEqual(value, memberOf(existing, name))),
  )
  const fixed = Object.keys(patch).find(name => name in existing && resource.fields[name]?.change === 'never')
  if (fixed !== undefined) {
    throw new AppError('INVALID_FIELD', `${fixed} never changes, and there is one with this identifier already.`, {
      field: fixed,
      resourceId: existing.id,
      resourceType: resource.objectType,
    })
  }
  const onFields = actions[CUSTOM_FIELDS]
  const ofFields: FieldActions = onFields === undefined ? {} : { [CUSTOM_FIELDS]: onFields }
  return { row: await updateResource(uow, resource, existing.id, patch, ofFields), created: false }
}

/** The resource that a PUT is about, locked; null when it is to be created. */
async function identified<R extends StoredRow>(
  uow: Uow,
  resource: Resource<R>,
  body: Row,
  identifier: Identifier,
): Promise<R | null> {
  if (typeof identifier === 'object' && 'id' in identifier)
    return identifier.id === null ? null : await lockExisting(uow, resource, identifier.id)
  const resourceType = customFieldsType(resource)
  if (identifier !== 'reference' && resourceType !== null) {
    const given = split(resource, body).fields.given ?? []
    const id = await identifiedBy(uow, { resourceType, reference: identifier.customField, given })
    return id === null ? null : await lockExisting(uow, resource, id)
  }
  const reference: unknown = body.reference
  if (typeof reference === 'string') return await lockOne(uow, resource, reference)
  throw new AppError('MISSING_FIELD', 'PUT finds the resource by its reference; give one.', { field: 'reference' })
}

/** What is not there yet has no values to take away. */
function forCreation(body: Row, actions: FieldActions): Row {
  const action = actions[CUSTOM_FIELDS]
  return action === 'REMOVE' || action === 'CLEAR' ? { ...body, [CUSTOM_FIELDS]: null } : body
}

/** The columns of a body, and what it says of custom fields. */
function split(resource: Resource, body: Row): { columns: Row; fields: Pick<GivenFields, 'given'> } {
  if (!resource.customFields) return { columns: body, fields: { given: undefined } }
  const { [CUSTOM_FIELDS]: given, ...columns } = body
  // Its own shape has validated it; null is the empty list.
  return { columns, fields: { given: given === undefined ? undefined : ((given ?? []) as GivenCustomField[]) } }
}

/** What a body changes of the custom fields of a row, which is null when it is about to be created. */
async function planned(
  uow: Uow,
  resource: Resource,
  { row, ...fields }: GivenFields & { readonly row: StoredRow | null },
): Promise<ValueChange | null> {
  const resourceType = customFieldsType(resource)
  return resourceType === null ? null : await planValues(uow, { resourceType, resourceId: row?.id ?? null }, fields)
}

/** The outbox refuses what the resource's module does not declare. */
const changeOf = (resource: Resource, action: (typeof CHANGES)[number]): EventType =>
  `${resource.objectType}.${action}` as EventType

/** A row of the resource, of values that its own shape has validated. */
const rowOf = <R extends StoredRow>(_resource: Resource<R>, values: Row): R => values as R
const memberOf = (row: object, name: string): unknown => (row as Row)[name]
const statusOf = (row: StoredRow): string => String(memberOf(row, 'status'))
const pick = <R extends StoredRow>(row: R, names: readonly string[]): Partial<R> =>
  Object.fromEntries(names.map(name => [name, memberOf(row, name)])) as Partial<R>

/** The columns in which a row that was prepared to be saved is another one than the row that is stored. */
function changedColumns(resource: Resource, previous: StoredRow, next: StoredRow): string[] {
  return Object.keys(next).filter(
    name => name in resource.table && !isDeepStrictEqual(memberOf(next, name), memberOf(previous, name)),
  )
}

/** What a patch cleared goes back to what a create would have put there. */
async function withDefaults<R extends StoredRow>(
  uow: Uow,
  resource: Resource<R>,
  row: Row,
  patched: readonly string[],
): Promise<Row> {
  const cleared = patched.filter(name => row[name] === null)
  const defaults = cleared.length > 0 ? await resource.defaults?.(uow, rowOf(resource, withoutNulls(row))) : undefined
  return { ...row, ...Object.fromEntries(cleared.map(name => [name, memberOf(defaults ?? {}, name) ?? null])) }
}

async function prepared<R extends StoredRow>(
  uow: Uow,
  resource: Resource<R>,
  values: Row,
  previous: R | null,
): Promise<R> {
  const row = rowOf(resource, values)
  const canonical = resource.prepare?.(row) ?? row
  return (await resource.resolve?.(uow, canonical, previous)) ?? canonical
}

const withoutNulls = (body: object): Row =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))

/** RFC 7386: objects merge, everything else replaces; a null member is removed. */
function mergePatch(target: object, patch: Row): Row {
  const merged: Row = { ...target }
  for (const [name, value] of Object.entries(patch)) {
    const before = merged[name]
    merged[name] = isPlainObject(value) ? withoutNulls(mergePatch(isPlainObject(before) ? before : {}, value)) : value
  }
  return merged
}

const isPlainObject = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function checkFirstStatus(resource: Resource, values: StoredRow): void {
  const status = statusOf(values)
  if (!resource.statuses || status === 'DRAFT' || status === 'ACTIVE') return
  throw new AppError('INVALID_FIELD', 'A new resource is DRAFT or ACTIVE.', { field: 'status' })
}

function checkTransition(resource: Resource, from: string, to: string): void {
  if (to === 'null')
    throw new AppError('INVALID_FIELD', 'status cannot be cleared; send the new status.', { field: 'status' })
  const allowed = resource.statuses?.[to] ?? []
  if (allowed.includes(from)) return
  throw new AppError('INVALID_OPERATION', `A ${resource.objectType} that is ${from} cannot become ${to}.`, {
    field: 'status',
  })
}

function checkChange(resource: Resource, previous: StoredRow, name: string): void {
  if (resource.fields[name]?.change !== 'draft' || statusOf(previous) === 'DRAFT') return
  throw new AppError('INVALID_FIELD', `${name} can only be changed while the ${resource.objectType} is DRAFT.`, {
    field: name,
  })
}

async function checkReferences(
  uow: Uow,
  resource: Resource,
  values: StoredRow,
  only?: readonly string[],
): Promise<void> {
  for (const [name, target] of Object.entries(resource.references ?? {})) {
    if (only && !only.includes(name)) continue
    const value = memberOf(values, name)
    if (value === null || value === undefined) continue
    const ids = Array.isArray(value)
      ? value.map((id: unknown, index) => ({ id: String(id), field: `${name}.${index}` }))
      : [{ id: String(value), field: name }]
    await requireAll(uow, target(), ids)
  }
}

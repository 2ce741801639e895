// The commands every plain resource shares. Each runs in the caller's unit of work and leaves its event in the outbox.
import type { CHANGES, EventType } from '../../shared/contracts/event-types.ts'
import type { Uow } from '../../shared/database/database.ts'
import { AppError } from '../../shared/errors.ts'
import { emit, emitAll } from '../outbox.ts'
import { checkChange, checkFirstStatus, checkReferences, checkTransition } from './changes/checks.ts'
import { type FieldActions, withFieldActions } from './changes/field-actions.ts'
import { changedColumns, mergePatch, withoutNulls } from './changes/merge-patch.ts'
import type { GivenCustomField } from './custom-fields/schema.ts'
import { cacheFields, type GivenFields, planValues, saveValues, type ValueChange } from './custom-fields/values.ts'
import { CUSTOM_FIELDS, customFieldsType, type Resource, type Row, type StoredRow } from './define-resource.ts'
import { memberOf, statusOf } from './rows/row-members.ts'
import { followSave, guardDelete, guardSave } from './rules.ts'
import { deleteRow, insertRow, lockExisting, updateRow } from './store.ts'
import { viewOf, viewsOf } from './views.ts'

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
  const { columns, fields } = splitFields(resource, body)
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
  else cacheFields(row, [])
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
  await resource.lockFirst?.(uow, idOrReference)
  const previous = await lockExisting(uow, resource, idOrReference)
  const { columns: patch, fields } = splitFields(resource, withFieldActions(resource, previous, body, actions))
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
  if (changed.includes('status')) checkTransition(resource, previous, statusOf(next))
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
  checkTransition(resource, previous, status)
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
  const row = await saveOver(uow, resource, previous, values)
  if (fieldChange) await saveValues(uow, row.id, fieldChange)
  await follow(uow, resource, row, previous)
  await emit(uow, {
    type: changeOf(resource, 'UPDATED'),
    objectId: row.id,
    data: await viewOf(uow, resource, row),
    previous: before,
  })
  return row
}

/** A row that was saved, and its view. */
export type Saved<R> = { readonly row: R; readonly view: Row }

/** The same of many resources at once, in this order: what their views read is read of all together. */
export async function saveChanges<R extends StoredRow>(
  uow: Uow,
  resource: Resource<R>,
  changes: readonly { readonly previous: R; readonly values: Partial<R> }[],
): Promise<Saved<R>[]> {
  if (changes.length === 0) return []
  const before = await viewsOf(
    uow,
    resource,
    changes.map(({ previous }) => previous),
  )
  const rows: R[] = []
  for (const { previous, values } of changes) {
    const row = await saveOver(uow, resource, previous, values)
    await follow(uow, resource, row, previous)
    rows.push(row)
  }
  const saved = (await viewsOf(uow, resource, rows)).flatMap((view, place) => {
    const row = rows[place]
    return row ? [{ row, view }] : []
  })
  await emitAll(
    uow,
    saved.map(({ row, view }, place) => ({
      type: changeOf(resource, 'UPDATED'),
      objectId: row.id,
      data: view,
      previous: before[place] ?? null,
    })),
  )
  return saved
}

async function saveOver<R extends StoredRow>(
  uow: Uow,
  resource: Resource<R>,
  previous: R,
  values: Partial<R>,
): Promise<R> {
  await guardSave(uow, resource, { ...previous, ...values }, previous)
  return await updateRow(uow, resource, previous, values)
}

async function follow<R extends StoredRow>(uow: Uow, resource: Resource<R>, row: R, previous: R): Promise<void> {
  await resource.afterSave?.(uow, row, previous)
  await followSave(uow, resource, row, previous)
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
    const archive = resource.statuses['ARCHIVED']?.includes(status) ? '; archive it instead.' : '.'
    const advised = resource.statusAdvice?.(row, null) ?? null
    const message = `Only a DRAFT can be deleted, and this one is ${status}${advised === null ? archive : `. ${advised}`}`
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

/** The columns of a body, and what it says of custom fields. */
export function splitFields(resource: Resource, body: Row): { columns: Row; fields: Pick<GivenFields, 'given'> } {
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
const pick = <R extends StoredRow>(row: R, names: readonly string[]): Partial<R> =>
  Object.fromEntries(names.map(name => [name, memberOf(row, name)])) as Partial<R>

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

// The commands every plain resource shares. Each runs in the caller's unit of work and leaves its event in the outbox.
import { isDeepStrictEqual } from 'node:util'
import type { Uow } from '../../shared/database/database.ts'
import { AppError } from '../../shared/errors.ts'
import { emit } from '../outbox.ts'
import type { Resource, Row } from './define-resource.ts'
import { deleteRow, insertRow, lockOne, notFound, requireAll, updateRow } from './store.ts'
import { viewOf } from './views.ts'

/** Creates a resource from a validated body. Returns its row. Emits CREATED. */
export async function createResource(uow: Uow, resource: Resource, body: Row): Promise<Row> {
  const given = withoutNulls(body)
  const blank: Row = Object.fromEntries(Object.keys(resource.fields).map(name => [name, null]))
  if (resource.statuses) blank['status'] = 'DRAFT'
  const defaults = await resource.defaults?.(uow, given)
  const values = await prepared(uow, resource, { ...blank, ...defaults, ...given }, null)
  checkFirstStatus(resource, values)
  await checkReferences(uow, resource, values)
  await resource.check?.(uow, values, null)
  const row = await insertRow(uow, resource, withoutNulls(values))
  await resource.afterSave?.(uow, row, null)
  await emit(uow, {
    type: `${resource.objectType}.CREATED`,
    objectId: row['id'],
    data: await viewOf(uow, resource, row),
    previous: null,
  })
  return row
}

/**
 * Merges `patch` into the resource: objects merge member by member, lists and scalars replace, null clears.
 * A patch that changes nothing writes nothing and emits nothing. Emits UPDATED with the previous state.
 */
export async function updateResource(uow: Uow, resource: Resource, idOrReference: string, patch: Row): Promise<Row> {
  const previous = await lockOne(uow, resource, idOrReference)
  if (!previous) throw notFound(resource, idOrReference)
  const merged = await withDefaults(uow, resource, mergePatch(previous, patch) as Row, Object.keys(patch))
  const next = await prepared(uow, resource, merged, previous)
  const changed = Object.keys(patch).filter(name => !isDeepStrictEqual(next[name], previous[name]))
  if (changed.length === 0) return previous
  for (const name of changed) checkChange(resource, previous, name)
  if (changed.includes('status')) checkTransition(resource, previous['status'], next['status'])
  await checkReferences(uow, resource, next, changed)
  await resource.check?.(uow, next, previous)
  return await saveChange(uow, resource, previous, Object.fromEntries(changed.map(name => [name, next[name]])))
}

/** Moves the resource to `status` by its rules; moving to where it is changes nothing. Emits UPDATED. */
export async function changeStatus(uow: Uow, resource: Resource, idOrReference: string, status: string): Promise<Row> {
  const previous = await lockOne(uow, resource, idOrReference)
  if (!previous) throw notFound(resource, idOrReference)
  if (previous['status'] === status) return previous
  checkTransition(resource, previous['status'], status)
  await resource.check?.(uow, { ...previous, status }, previous)
  return await saveChange(uow, resource, previous, { status })
}

/** Saves `values` over `previous` and emits UPDATED. For commands that have made their own checks. */
export async function saveChange(uow: Uow, resource: Resource, previous: Row, values: Row): Promise<Row> {
  // Before the change is made, since what a view computes is read from the database.
  const before = await viewOf(uow, resource, previous)
  const row = await updateRow(uow, resource, previous['id'], values)
  await resource.afterSave?.(uow, row, previous)
  await emit(uow, {
    type: `${resource.objectType}.UPDATED`,
    objectId: row['id'],
    data: await viewOf(uow, resource, row),
    previous: before,
  })
  return row
}

/** Deletes the resource; one with a status only while DRAFT (semantics 0.6). Returns what was deleted. Emits DELETED. */
export async function deleteResource(uow: Uow, resource: Resource, idOrReference: string): Promise<Row> {
  const row = await lockOne(uow, resource, idOrReference)
  if (!row) throw notFound(resource, idOrReference)
  if (resource.statuses && row['status'] !== 'DRAFT') {
    throw new AppError(
      'COULD_NOT_DELETE_RESOURCE',
      `Only a DRAFT can be deleted, and this one is ${row['status']}; archive it instead.`,
      {
        field: 'status',
        resourceId: row['id'],
        resourceType: resource.objectType,
      },
    )
  }
  await resource.beforeDelete?.(uow, row)
  const view = await viewOf(uow, resource, row)
  await deleteRow(uow, resource, row['id'])
  await emit(uow, { type: `${resource.objectType}.DELETED`, objectId: row['id'], data: view, previous: null })
  return row
}

/** Creates the resource, or updates the one with the same reference. Says which. */
export async function upsertResource(uow: Uow, resource: Resource, body: Row): Promise<{ row: Row; created: boolean }> {
  const reference: unknown = body['reference']
  if (typeof reference !== 'string') {
    throw new AppError('MISSING_REFERENCE', 'PUT finds the resource by its reference; give one.', {
      field: 'reference',
    })
  }
  const existing = await lockOne(uow, resource, reference)
  if (!existing) return { row: await createResource(uow, resource, body), created: true }
  // The whole resource is sent, so what may not change may still be repeated: only a difference is refused.
  const patch = Object.fromEntries(
    Object.entries(body).filter(([name]) => !isDeepStrictEqual(body[name], existing[name])),
  )
  const fixed = Object.keys(patch).find(name => name in existing && resource.fields[name]?.change === 'never')
  if (fixed !== undefined) {
    throw new AppError('INVALID_FIELD', `${fixed} never changes, and there is one with this reference already.`, {
      field: fixed,
      resourceId: existing['id'],
      resourceType: resource.objectType,
    })
  }
  return { row: await updateResource(uow, resource, existing['id'], patch), created: false }
}

/** What a patch cleared goes back to what a create would have put there. */
async function withDefaults(uow: Uow, resource: Resource, row: Row, patched: readonly string[]): Promise<Row> {
  const cleared = patched.filter(name => row[name] === null)
  const defaults = cleared.length > 0 ? await resource.defaults?.(uow, withoutNulls(row)) : undefined
  return { ...row, ...Object.fromEntries(cleared.map(name => [name, defaults?.[name] ?? null])) }
}

async function prepared(uow: Uow, resource: Resource, row: Row, previous: Row | null): Promise<Row> {
  const canonical = resource.prepare?.(row) ?? row
  return (await resource.resolve?.(uow, canonical, previous)) ?? canonical
}

const withoutNulls = (body: Row): Row => Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))

/** RFC 7386: objects merge, everything else replaces; a null member is removed. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isPlainObject(patch)) return patch
  const merged: Row = isPlainObject(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    merged[name] = isPlainObject(value) ? withoutNulls(mergePatch(merged[name], value) as Row) : value
  }
  return merged
}

const isPlainObject = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function checkFirstStatus(resource: Resource, values: Row): void {
  if (!resource.statuses || values['status'] === 'DRAFT' || values['status'] === 'ACTIVE') return
  throw new AppError('INVALID_FIELD', 'A new resource is DRAFT or ACTIVE.', { field: 'status' })
}

function checkTransition(resource: Resource, from: string, to: string | null): void {
  const allowed = resource.statuses?.[to ?? ''] ?? []
  if (allowed.includes(from)) return
  throw new AppError('INVALID_OPERATION', `A ${resource.objectType} that is ${from} cannot become ${to}.`, {
    field: 'status',
  })
}

function checkChange(resource: Resource, previous: Row, name: string): void {
  if (resource.fields[name]?.change !== 'draft' || previous['status'] === 'DRAFT') return
  throw new AppError('INVALID_FIELD', `${name} can only be changed while the ${resource.objectType} is DRAFT.`, {
    field: name,
  })
}

async function checkReferences(uow: Uow, resource: Resource, values: Row, only?: readonly string[]): Promise<void> {
  for (const [name, target] of Object.entries(resource.references ?? {})) {
    if (only && !only.includes(name)) continue
    const value: unknown = values[name]
    if (value === null || value === undefined) continue
    const ids = Array.isArray(value)
      ? value.map((id: string, index) => ({ id, field: `${name}.${index}` }))
      : [{ id: value as string, field: name }]
    await requireAll(uow, target(), ids)
  }
}

// What a resource refuses of a change, whatever it is.
import type { Uow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import type { Resource, StoredRow } from '../define-resource.ts'
import { memberOf, statusOf } from '../rows/row-members.ts'
import { requireAll } from '../store.ts'

/** A new row is DRAFT or ACTIVE. */
export function checkFirstStatus(resource: Resource, values: StoredRow): void {
  const status = statusOf(values)
  if (!resource.statuses || status === 'DRAFT' || status === 'ACTIVE') return
  throw new AppError('INVALID_FIELD', 'A new resource is DRAFT or ACTIVE.', { field: 'status' })
}

/** Whether the rules of the resource let it go from its status to another. */
export function checkTransition<R extends StoredRow>(resource: Resource<R>, previous: R, to: string): void {
  const from = statusOf(previous)
  if (to === 'null')
    throw new AppError('INVALID_FIELD', 'status cannot be cleared; send the new status.', { field: 'status' })
  const allowed = resource.statuses?.[to] ?? []
  if (allowed.includes(from)) return
  const next = Object.keys(resource.statuses ?? {}).filter(status => resource.statuses?.[status]?.includes(from))
  const stated = next.length === 0 ? `What is ${from} stays so.` : `It can become ${next.join(' or ')}.`
  const can = resource.statusAdvice?.(previous, to) ?? stated
  const message = `A ${resource.objectType} that is ${from} cannot become ${to}. ${can}`
  throw new AppError('INVALID_OPERATION', message, { field: 'status' })
}

/** Fields that only a DRAFT may change. */
export function checkChange(resource: Resource, previous: StoredRow, name: string): void {
  if (resource.fields[name]?.change !== 'draft' || statusOf(previous) === 'DRAFT') return
  throw new AppError('INVALID_FIELD', `${name} can only be changed while the ${resource.objectType} is DRAFT.`, {
    field: name,
  })
}

/** Refuses what names a resource that the tenant does not have; of the columns `only`, or of all. */
export async function checkReferences(
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

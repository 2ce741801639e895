// PUT: creates a resource, or updates the one that the body is about.
import { isDeepStrictEqual } from 'node:util'
import type { Uow } from '../../../shared/database/database.ts'
import { StoredMeanwhileError } from '../../../shared/database/driver-errors.ts'
import { AppError } from '../../../shared/errors.ts'
import { type FieldActions, withFieldActions } from '../changes/field-actions.ts'
import { createResource, splitFields, updateResource } from '../commands.ts'
import { identifiedBy } from '../custom-fields/identify.ts'
import { CUSTOM_FIELDS, customFieldsType, type Resource, type Row, type StoredRow } from '../define-resource.ts'
import { memberOf } from '../rows/row-members.ts'
import { lockExisting, lockOne } from '../store.ts'

/** How a PUT finds the resource it is about: by its reference, by the value of a custom field, or its command has (null: none). */
export type Identifier = { readonly customField: string } | { readonly id: string | null } | 'reference'

/**
 * Creates the resource, or updates the one with the same reference or value of a custom field. Says which. Of two at once with the same
 * reference, one creates and the other one updates.
 */
export async function upsertResource<R extends StoredRow>(
  uow: Uow,
  resource: Resource<R>,
  given: Row,
  { identifier = 'reference', actions = {} }: { identifier?: Identifier; actions?: FieldActions } = {},
): Promise<{ row: R; created: boolean }> {
  const existing = await identified(uow, resource, given, identifier)
  const body = withFieldActions(resource, existing, given, actions)
  if (!existing) {
    const row = await createResource(uow, resource, forCreation(body, actions)).catch((error: unknown) => {
      throw identifier === 'reference' && saysIsThere(error, resource)
        ? new StoredMeanwhileError('another call has created it', { cause: error })
        : error
    })
    return { row, created: true }
  }
  // What a create needs is sent again, so what may not change may be repeated: only a difference is refused.
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

const saysIsThere = (error: unknown, { objectType }: Pick<Resource, 'objectType'>): boolean =>
  error instanceof AppError &&
  error.code === 'RESOURCE_ALREADY_EXISTS' &&
  error.details.field === 'reference' &&
  error.details.resourceType === objectType

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
    const given = splitFields(resource, body).fields.given ?? []
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

// From a stored row to what the API returns, with `expand[]`.
import type { ReadUow } from '../../shared/database/database.ts'
import { stateOf } from '../../shared/database/transaction.ts'
import { AppError } from '../../shared/errors.ts'
import { looksLikeId } from '../../shared/ids.ts'
import { resourceOf, typeExpanded } from './above.ts'
import { customFieldsOfRows } from './custom-fields/values.ts'
import { CUSTOM_FIELDS, type Resource, type Row, type StoredRow } from './define-resource.ts'
import { findMany, getOne } from './store.ts'

const EXPAND_ALL = 'ALL'

/** The views of `rows`. `expand` names come from the request; an unknown one is refused by name. */
export async function viewsOf<R extends StoredRow>(
  uow: ReadUow,
  resource: Resource<R>,
  rows: readonly R[],
  expand: readonly string[] = [],
): Promise<Row[]> {
  return await viewsWith(uow, resource, { rows, fields: fieldsOf(uow, resource, rows), expand })
}

/** The view of the row with this id, or reference where the resource has them. Throws RESOURCE_NOT_FOUND. */
export async function viewById<R extends StoredRow>(
  uow: ReadUow,
  resource: Resource<R>,
  idOrReference: string,
  expand: readonly string[] = [],
): Promise<Row> {
  // With an id both questions are known, and travel together.
  const early = looksLikeId(idOrReference) ? fieldsOf(uow, resource, [{ id: idOrReference }]) : null
  const [row] = await Promise.all([getOne(uow, resource, idOrReference), early])
  const fields = early ?? fieldsOf(uow, resource, [row])
  const [view] = await viewsWith(uow, resource, { rows: [row], fields, expand })
  if (!view) throw new Error('one row has one view')
  return view
}

/** Whether `viewById` asks all that it asks before it waits for an answer, where nothing is expanded. */
export const isPipelined = (resource: Resource, idOrReference: string): boolean =>
  resource.compute === undefined && (!resource.customFields || looksLikeId(idOrReference))

/** Adds the custom fields of the row with this id to its view, where its resource has them. */
type Fields = (id: string, view: Row) => void

async function viewsWith<R extends StoredRow>(
  uow: ReadUow,
  resource: Resource<R>,
  of: { readonly rows: readonly R[]; readonly fields: Promise<Fields>; readonly expand: readonly string[] },
): Promise<Row[]> {
  const { rows, expand } = of
  const [fields, computed = []] = await Promise.all([of.fields, resource.compute?.(uow, rows)])
  // The rows of one question have the same columns.
  const names = Object.keys(rows[0] ?? {}).filter(name => name in resource.fields)
  const views = rows.map((row, index): Row => {
    const view = shownOf(resource, names, row)
    fields(row.id, view)
    return Object.assign(view, resource.derive?.(row), computed[index])
  })
  await expandAll(uow, resource, expand, views)
  return views
}

/** What of a row is shown: the fields of the definition. A column that is none of them is the service's own. */
function shownOf({ objectType }: Resource, names: readonly string[], row: StoredRow): Row {
  const view: Row = { object_type: objectType, id: row.id }
  for (const name of names) view[name] = (row as unknown as Row)[name]
  view.created_at = row.created_at
  view.updated_at = row.updated_at
  return view
}

/** The custom fields of each row; nothing for resources that have none. */
async function fieldsOf(uow: ReadUow, resource: Resource, rows: readonly { readonly id: string }[]): Promise<Fields> {
  if (!resource.customFields) return () => {}
  const values = await customFieldsOfRows(uow, rows)
  return (id, view) => {
    view[CUSTOM_FIELDS] = values.get(id) ?? []
  }
}

/** The last view of a row, for as long as its transaction writes nothing more. */
const lastViews = new WeakMap<StoredRow, { readonly of: Resource; readonly state: object; readonly view: Row }>()

/**
 * The view of one row, as `viewsOf`. A change shows its row twice, in its event and in its response: what the view takes from other tables
 * is read once for both.
 */
export async function viewOf<R extends StoredRow>(
  uow: ReadUow,
  resource: Resource<R>,
  row: R,
  expand: readonly string[] = [],
): Promise<Row> {
  const state = stateOf(uow.tx)
  const last = lastViews.get(row)
  const isLast = state !== undefined && last?.state === state && last.of === (resource as Resource)
  const [view] = isLast ? [last.view] : await viewsOf(uow, resource, [row])
  if (!view) throw new Error('one row has one view')
  const shown = { ...view }
  await expandAll(uow, resource, expand, [shown])
  // An expansion inside a nested object would be in the next view too, as both hold that object.
  if (state !== undefined && expand.length === 0) lastViews.set(row, { of: resource, state, view })
  else lastViews.delete(row)
  return shown
}

/**
 * The requested expansions: each by its own name, by its path in the view, or, as the interface also has it, by the name of the
 * field with the id. What the actor may not view is refused when it is named, and left out of ALL.
 */
function expansionsOf({ actor }: ReadUow, resource: Resource, expand: readonly string[]): string[] {
  const known = Object.keys(resource.expand ?? {})
  const lacking = (name: string): string | null => {
    const expansion = resource.expand?.[name]
    const permission = expansion ? `${typeExpanded(expansion)}.VIEW` : null
    return permission !== null && actor.may?.(permission) === false ? permission : null
  }
  const named = expand.filter(given => given !== EXPAND_ALL)
  const wanted = named.map(given => {
    const name = known.find(each => {
      const { by, within } = resource.expand?.[each] ?? {}
      return each === given || (by !== 'id' && by === given) || (within !== undefined && `${within}.${each}` === given)
    })
    const permission = name === undefined ? null : lacking(name)
    if (permission !== null) throw expansionForbidden(given, permission)
    if (name !== undefined) return name
    const choice =
      known.length > 0 ? `It can expand ${[...known, EXPAND_ALL].join(', ')}.` : 'It has nothing to expand.'
    throw new AppError('INVALID_FIELD', `${resource.objectType} cannot expand ${JSON.stringify(given)}. ${choice}`, {
      field: 'expand',
    })
  })
  const isAll = named.length < expand.length
  // In the order of the resource, so that one expansion never fills what another one shows.
  return known.filter(name => (isAll ? lacking(name) === null : wanted.includes(name)))
}

/** The refusal of an expansion that shows what the actor may not view. */
export const expansionForbidden = (expansion: string, permission: string): AppError =>
  new AppError('USER_NOT_ALLOWED', `To expand ${JSON.stringify(expansion)} needs ${permission}; leave it out.`, {
    field: 'expand',
  })

async function expandAll(uow: ReadUow, resource: Resource, expand: readonly string[], views: Row[]): Promise<void> {
  for (const name of expansionsOf(uow, resource, expand)) await expandInto(uow, resource, name, views)
}

async function expandInto(uow: ReadUow, resource: Resource, name: string, views: Row[]): Promise<void> {
  const expansion = resource.expand?.[name]
  if (!expansion) return
  const target = resourceOf(uow, expansion.to)
  const { within, under, member = name } = expansion
  const holders =
    within === undefined
      ? views
      : within === '**'
        ? under
          ? under.flatMap(name => heldUnder(views, name))
          : holdersIn(views, expansion.by)
        : views.flatMap(view => (view[within] ?? []) as Row[])
  const ids = holders.flatMap(holder => (holder[expansion.by] ?? []) as string | string[]).filter(id => id !== '')
  const rows = await findMany(uow, target, ids)
  const byId = new Map((await viewsOf(uow, target, rows)).map(view => [view.id, view]))
  for (const holder of holders) {
    const value: unknown = holder[expansion.by]
    if (Array.isArray(value)) holder[member] = value.map(id => byId.get(id)).filter(found => found !== undefined)
    else holder[member] = byId.get(value) ?? null
  }
}

/** Every object at any depth that stands under this name, by itself or in a list. */
function heldUnder(value: unknown, name: string): Row[] {
  if (Array.isArray(value)) return value.flatMap(each => heldUnder(each, name))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, held]) => {
    const own = key === name ? [held].flat().filter(each => typeof each === 'object' && each !== null) : []
    return [...(own as Row[]), ...heldUnder(held, name)]
  })
}

/** Every object at any depth that has the member. */
function holdersIn(value: unknown, member: string): Row[] {
  if (Array.isArray(value)) return value.flatMap(each => holdersIn(each, member))
  if (typeof value !== 'object' || value === null) return []
  const below = Object.values(value).flatMap(each => holdersIn(each, member))
  return member in value ? [value as Row, ...below] : below
}

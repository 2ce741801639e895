// What a list of a table can do, as one value: its filters, orders and search follow from it, in the query and in the API description.
import { and, asc, desc, eq, gte, ilike, inArray, like, lt, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import Type, { type TProperties, type TSchema } from 'typebox'
import type { ReadUow } from '../../shared/database/database.ts'
import { AppError } from '../../shared/errors.ts'
import { dateRange, listOf } from '../http/pagination.ts'
import { hasFieldValue, hasOneOf } from '../resource/custom-fields/conditions.ts'
import { type ResourceWithCustomFields, VALUE_LENGTH_MAX } from '../resource/custom-fields/schema.ts'
import { isListed } from '../resource/is-listed.ts'
import { Shape } from '../resource/shapes.ts'
import { inThisTenant } from '../resource/tenant-condition.ts'
import type { Filter, Named, SelectionCondition } from './filter.ts'
import { containsNamed, isOneNamed } from './named-resource.ts'
import { OrderDirection } from './slice.ts'

export type ListTable = PgTable & { platform_id: PgColumn; environment: PgColumn; id: PgColumn }
export type ListQuery = Readonly<Record<string, string | string[] | undefined>>

export type ListSpec = {
  readonly table: ListTable
  readonly filters: Readonly<Record<string, Filter>>
  /** By column of ids, what they are the ids of: `equals` and `contains` take its reference too, here and in a search. */
  readonly names?: Readonly<Record<string, Named>>
  /** Columns it may be ordered by; the first by default. */
  readonly orderBy: readonly string[]
  /** Columns of text that a search may match, by a part of it or as one of several. */
  readonly searchable: readonly string[]
  /** Of columns of text, what meets a pattern sooner than comparing every row does. */
  readonly byPart?: Readonly<Record<string, FindByPart>>
  /** Columns of times that a search may limit to a range. */
  readonly ranges: readonly string[]
  /** The type under which the custom fields of what is listed are defined; absent for what has none. */
  readonly customFields?: ResourceWithCustomFields | null
  /** What is offered by rules: by the name of what they are about, the condition that a value of it is admitted. */
  readonly selectionRules?: Readonly<Record<string, SelectionCondition>>
}

/**
 * Finds the ids of rows whose column matches a LIKE pattern. `text` is the text that the pattern searches for. Null when comparing the
 * rows one by one is cheaper.
 */
export type FindByPart = (
  uow: ReadUow,
  search: { readonly text: string; readonly pattern: string; readonly ignoreCase: boolean },
) => Promise<readonly string[] | null>

/** A parameter that may be given several times. */
export const Repeatable = (item: TSchema) => Type.Optional(Type.Union([item, Type.Array(item, { maxItems: 100 })]))

/** How a range of times is written. */
export const RANGE_TEXT = 'A range `[from,to]` of times; either may be empty.'
const RangeText = Type.String({ maxLength: 100, description: RANGE_TEXT })
const schemaOf = ({ kind, schema }: Filter): TSchema => {
  if (schema) return schema
  if (kind === 'boolean') return Type.Enum(['true', 'false'])
  return kind === 'range' ? RangeText : Type.String({ maxLength: 255 })
}

const CustomFieldFilter = Type.String({ maxLength: 1_000 })

/** The query parameters of the filters. */
export const filterQuery = ({ filters, customFields }: ListSpec): TProperties => ({
  ...Object.fromEntries(
    Object.entries(filters).map(([name, filter]) => {
      const schema = schemaOf(filter)
      return [name, name.endsWith('[]') ? Repeatable(schema) : Type.Optional(schema)]
    }),
  ),
  ...(customFields ? { custom_field: Repeatable(CustomFieldFilter) } : {}),
})

/** The query parameters of the order. */
export const orderQuery = ({ orderBy }: ListSpec): TProperties => ({
  order_by: Type.Optional(Type.Enum([...orderBy])),
  order_direction: OrderDirection,
})

const SearchValue = Type.String({ maxLength: 255 })
const FilterValue = Type.String({ maxLength: VALUE_LENGTH_MAX })
/** The name by which a search filters by a custom field, beside the field's reference. */
const CUSTOM_FIELDS = 'custom_fields'
export const SearchBody = Shape(
  {
    search_fields: Type.Optional(
      Type.Array(
        Shape(
          {
            name: Type.String(),
            value: SearchValue,
            wildcard_start: Type.Optional(Type.Boolean()),
            wildcard_end: Type.Optional(Type.Boolean()),
            ignore_case: Type.Optional(Type.Boolean()),
          },
          { title: 'SearchField' },
        ),
        { maxItems: 20 },
      ),
    ),
    filter_fields: Type.Optional(
      Type.Array(
        Shape(
          {
            name: Type.String(),
            reference: Type.Optional(Type.String({ maxLength: 255 })),
            value: Type.Optional(FilterValue),
            values: Type.Optional(Type.Array(FilterValue, { minItems: 1, maxItems: 100 })),
          },
          { title: 'FilterField' },
        ),
        { maxItems: 20 },
      ),
    ),
    selection_rule_fields: Type.Optional(
      Type.Array(Shape({ name: Type.String(), value: SearchValue }, { title: 'SelectionRuleField' }), { maxItems: 20 }),
    ),
  },
  { title: 'Search' },
)
export type SearchRequest = Type.Static<typeof SearchBody>

/** A column of `table` by its wire name. Throws on a name the table does not have: a programming error. */
export function columnOf(table: PgTable, name: string): PgColumn {
  const column = (table as unknown as Record<string, PgColumn | undefined>)[name]
  if (!column) throw new Error(`no column ${name}`)
  return column
}

/** The conditions of the filters that were given. Throws INVALID_FIELD on a range, or a custom field, that is none. */
export async function filterConditions(uow: ReadUow, spec: ListSpec, query: ListQuery): Promise<SQL[]> {
  const { table, filters, names, customFields } = spec
  const conditions = Object.entries(filters).flatMap(([name, filter]): SQL[] => {
    const values = listOf(query[name])
    const [value] = values
    if (value === undefined) return []
    if (filter.kind === 'related') return [filter.condition(uow, values)]
    const { kind, notWith } = filter
    if (notWith !== undefined && query[notWith] !== undefined)
      throw new AppError('INVALID_FIELD', `Send ${name} or ${notWith}, not both.`, { field: name })
    const column = columnOf(table, filter.column)
    if (kind === 'oneOf') return [inArray(column, values)]
    if (kind === 'equals') return [isOneNamed(uow, column, [value], names?.[filter.column])]
    if (kind === 'equalsIgnoringCase') return [eq(sql`upper(${column})`, value.toUpperCase())]
    if (kind === 'contains') return [containsNamed(uow, column, value, names?.[filter.column])]
    if (kind === 'boolean') return [eq(column, value === 'true')]
    return within(column, name, value)
  })
  if (!customFields) return conditions
  for (const text of listOf(query['custom_field'])) {
    conditions.push(await hasFieldValue(uow, { id: table.id, resourceType: customFields }, text))
  }
  return conditions
}

/** `[from,to]` on a column of times; either end may be open. */
function within(column: PgColumn, field: string, text: string): SQL[] {
  const { from, before } = dateRange(field, text)
  return [...(from === null ? [] : [gte(column, from)]), ...(before === null ? [] : [lt(column, before)])]
}

/** The conditions of a search, all of which must match. Throws INVALID_FIELD with the place of a name it does not know. */
export async function searchConditions(uow: ReadUow, spec: ListSpec, body: SearchRequest): Promise<SQL[]> {
  const conditions: SQL[] = []
  for (const [index, search] of (body.search_fields ?? []).entries()) {
    const column = named(spec, search.name, spec.searchable, `search_fields.${index}.name`)
    const ids = isPattern(search) ? await spec.byPart?.[search.name]?.(uow, partOf(search)) : null
    conditions.push(ids ? sql`${spec.table.id} = any(${sql.param(ids)}::text[])` : matchesText(column, search))
  }
  for (const [index, filter] of (body.filter_fields ?? []).entries()) {
    conditions.push(...(await filterFieldConditions(uow, spec, filter, `filter_fields.${index}`)))
  }
  for (const [index, { name, value }] of (body.selection_rule_fields ?? []).entries()) {
    const rules = spec.selectionRules ?? {}
    const condition = Object.hasOwn(rules, name) ? rules[name] : undefined
    if (!condition) throw unknownRule(name, Object.keys(rules), `selection_rule_fields.${index}.name`)
    conditions.push(condition(value))
  }
  return conditions
}

function unknownRule(name: string, known: readonly string[], field: string): AppError {
  const message =
    known.length === 0
      ? 'Nothing here is offered by selection rules; leave selection_rule_fields out.'
      : `${JSON.stringify(name)} is in no selection rule; name ${known.join(', ')}.`
  return new AppError('INVALID_FIELD', message, { field })
}

type FilterField = NonNullable<SearchRequest['filter_fields']>[number]

async function filterFieldConditions(uow: ReadUow, spec: ListSpec, filter: FilterField, place: string): Promise<SQL[]> {
  const { customFields } = spec
  const values = valuesOf(filter, place)
  if (customFields && filter.name === CUSTOM_FIELDS) {
    const of = { reference: filter.reference, values, place }
    return [await hasOneOf(uow, { id: spec.table.id, resourceType: customFields }, of)]
  }
  if (filter.reference !== undefined) {
    const message = `reference names a custom field; it goes with the name ${CUSTOM_FIELDS} alone.`
    throw new AppError('INVALID_FIELD', message, { field: `${place}.reference` })
  }
  const alsoNamed = customFields ? [CUSTOM_FIELDS] : []
  const column = named(spec, filter.name, [...spec.searchable, ...spec.ranges], `${place}.name`, alsoNamed)
  if (!spec.ranges.includes(filter.name)) return [isOneNamed(uow, column, values, spec.names?.[filter.name])]
  const [range = '', ...others] = values
  if (others.length === 0) return within(column, `${place}.${filter.values ? 'values.0' : 'value'}`, range)
  const message = `${filter.name} takes one range. Search once for each range.`
  throw new AppError('INVALID_FIELD', message, { field: `${place}.values.1` })
}

/** Throws MISSING_FIELD where there is no value, and INVALID_FIELD where it is given in both ways. */
function valuesOf({ value, values }: FilterField, place: string): readonly string[] {
  if (value === undefined && values === undefined)
    throw new AppError('MISSING_FIELD', `${place}.value or ${place}.values is required.`, { field: `${place}.value` })
  if (value !== undefined && values !== undefined)
    throw new AppError('INVALID_FIELD', 'Give value or values, not both.', { field: `${place}.values` })
  return values ?? [value ?? '']
}

function named(
  { table }: ListSpec,
  name: string,
  allowed: readonly string[],
  field: string,
  others: readonly string[] = [],
): PgColumn {
  if (allowed.includes(name)) return columnOf(table, name)
  throw new AppError('INVALID_FIELD', `${field} must be one of ${[...allowed, ...others].join(', ')}.`, { field })
}

type TextSearch = {
  readonly value: string
  readonly wildcard_start?: boolean
  readonly wildcard_end?: boolean
  readonly ignore_case?: boolean
}

/** The value itself, or with what a wildcard stands for before or after it; the value's own wildcards are only characters. */
export function matchesText(column: PgColumn, search: TextSearch): SQL {
  const { value, wildcard_end: anyEnd } = search
  if (!isPattern(search)) return anyEnd ? sql`${column} ^@ ${value}` : eq(column, value)
  const { pattern, ignoreCase } = partOf(search)
  return (ignoreCase ? ilike : like)(column, pattern)
}

/** Under row-level security an index finds an equal value and the start of one, but a pattern is compared row by row. */
const isPattern = (search: TextSearch): boolean => search.wildcard_start === true || search.ignore_case === true

function partOf(search: TextSearch): Parameters<FindByPart>[1] {
  const { value: text, wildcard_start: anyStart, wildcard_end: anyEnd, ignore_case: wantsAnyCase = false } = search
  const escaped = text.replace(/[\\%_]/g, '\\$&')
  const pattern = `${anyStart ? '%' : ''}${escaped}${anyEnd ? '%' : ''}`
  // A million values are compared twice as fast where case need not be ignored, and the number of an invoice often has no letters.
  const hasLetters = pattern.toLowerCase() !== pattern.toUpperCase()
  return { text, pattern, ignoreCase: wantsAnyCase && hasLetters }
}

export type ListOrder = { readonly by: string; readonly descending: boolean }

/** The order the query asks for; without one newest first, or as `direction` says. */
export const orderOf = ({ orderBy }: ListSpec, query: ListQuery, direction: 'asc' | 'desc' = 'desc'): ListOrder => ({
  by: listOf(query['order_by'])[0] ?? orderBy[0] ?? 'id',
  descending: (listOf(query['order_direction'])[0] ?? direction).toLowerCase() === 'desc',
})

/** All of them at once, for lists that the interface does not page. */
export async function listAll<R>(
  uow: ReadUow,
  { table }: Pick<ListSpec, 'table'>,
  of: { readonly conditions: readonly SQL[]; readonly order: ListOrder; readonly max: number },
): Promise<R[]> {
  const direction = of.order.descending ? desc : asc
  return (await uow.tx
    .select()
    .from(table)
    .where(and(inThisTenant(uow, table), isListed(table), ...of.conditions))
    .orderBy(direction(columnOf(table, of.order.by)), direction(table.id))
    .limit(of.max)) as R[]
}

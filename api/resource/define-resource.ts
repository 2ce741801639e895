// A resource is one value: its table, its fields, and what its rules add. Routes, shapes, OpenAPI, events and the tenant
// tests all follow from it (api/resource/README.md is the recipe).
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import Type, { type TProperties, type TSchema } from 'typebox'
import type { ReadUow, Uow } from '../../shared/database/database.ts'
import type { Id } from '../../shared/ids.ts'
import { withFixedFields } from '../http/body/fixed-fields.ts'
import type { Filter, Named, SelectionCondition, TypeAbove } from '../list/filter.ts'
import { CustomFieldValues, type ResourceWithCustomFields } from './custom-fields/schema.ts'
import { Included, Nullable, Shape, Timestamp } from './shapes.ts'

/** The columns every tenant table has (api/resource/columns.ts makes them). */
export type TenantTable = PgTable & {
  platform_id: PgColumn
  environment: PgColumn
  id: PgColumn
  created_at: PgColumn
  updated_at: PgColumn
}

type Entry<T extends TSchema = TSchema> = {
  readonly schema: T
  /** What a create does with the field; `never` is for fields only the service sets. */
  readonly create: 'required' | 'optional' | 'never'
  /** When a PATCH may change it. `draft`: only while the resource is DRAFT. */
  readonly change: 'always' | 'draft' | 'never'
  /** What answers show, where bodies may say it in other ways too. */
  readonly shown?: TSchema
  /** Of a field that is only shown: which calls change it. */
  readonly changedBy?: string
}

/** A field a client may give. Defaults: optional at creation, changeable always. */
export const field = <T extends TSchema>(
  schema: T,
  {
    create = 'optional',
    change = 'always',
    ...rest
  }: Partial<Omit<Entry<T>, 'schema' | 'create'>> & {
    create?: 'required' | 'optional'
  } = {},
): Entry<T> => ({ schema, create, change, ...rest })

/** A field only the service sets: shown, refused by name in requests. `changedBy` says which calls change it. */
export const readOnly = <T extends TSchema>(schema: T, changedBy?: string): Entry<T> => ({
  schema,
  create: 'never',
  change: 'never',
  ...(changedBy === undefined ? {} : { changedBy }),
})

/** The member of bodies and views that the trait `customFields` gives. */
export const CUSTOM_FIELDS = 'custom_fields'

/** An object of the wire: a body, a patch or a view. What is stored has the type of its table instead. */
export type Row = Record<string, unknown>

/** What every stored row has. */
export type StoredRow = {
  readonly id: string
  readonly platform_id: string
  readonly environment: 'TEST' | 'LIVE'
  readonly created_at: string
  readonly updated_at: string
}
type NameOf<R> = keyof R & string

/** `from` statuses a verb or a PATCH of `status` may start in, by the status it leads to. */
export type StatusRules = Readonly<Record<string, readonly string[]>>

/** semantics 0.6: ACTIVE never goes back to DRAFT, ARCHIVED is final, DEPRECATED may be activated again. */
export const LIFECYCLE_RULES: StatusRules = {
  ACTIVE: ['DRAFT', 'DEPRECATED'],
  DEPRECATED: ['ACTIVE'],
  ARCHIVED: ['ACTIVE', 'DEPRECATED'],
}

/** As LIFECYCLE_RULES, with INACTIVE, from which it may be activated again (semantics 0.6). */
export const PAUSABLE_RULES: StatusRules = {
  ACTIVE: ['DRAFT', 'INACTIVE', 'DEPRECATED'],
  INACTIVE: ['ACTIVE'],
  DEPRECATED: ['ACTIVE', 'INACTIVE'],
  ARCHIVED: ['ACTIVE', 'INACTIVE', 'DEPRECATED'],
}

export type Expansion = {
  /** The field with the id or ids. */
  readonly by: string
  /** The resource that they name, or its object type when its module is above. */
  readonly to: (() => Resource) | TypeAbove
  /**
   * The list of the view whose members have the id, or `**` for whatever has it at any depth; their shape says so itself.
   * Absent: the view has it.
   */
  readonly within?: string
  /** With `**`: the members under which the objects stand. Absent: any. */
  readonly under?: readonly string[]
  /** What it is called there, when that is not the expansion's own name: two lists may each have a member of one name. */
  readonly member?: string
}

export type Fixture = {
  /** A valid create body. `seed.make(resource)` creates what it refers to and gives its view. */
  create(seed: FixtureSeed): Promise<Row>
  /** A valid PATCH body for what `create` made; null when the resource has no PATCH. */
  update: Row | null
}
export type FixtureSeed = {
  /** The tenant's own. */
  readonly platformId: string
  unique(prefix: string): string
  /** The id of a user who is invited to the tenant. */
  user(): Promise<string>
  make<R extends StoredRow>(resource: Resource<R>): Promise<R>
}

/**
 * A query flag of the calls that change a resource (`?align_product_item_status=true`): what else follows in the same
 * transaction. Runs after a change has been saved, also one that changed nothing, and before a deletion.
 */
export type Flag<R extends StoredRow = StoredRow> = {
  readonly description: string
  apply(uow: Uow, row: R, action: 'change' | 'delete'): Promise<void>
}

/**
 * What a resource is and does, by the type of its rows. Hooks are methods, so that a resource of any rows is a `Resource`: only
 * rows of its own table ever reach them.
 */
type Traits<R extends StoredRow, Given> = {
  /** `CUSTOMER`: object type, event prefix and permission prefix. */
  readonly objectType: string
  /** `Customer`: name of its shape in the API description. */
  readonly shapeName: string
  readonly idPrefix: string
  /** `customers`: path below /v1. */
  readonly path: string
  readonly operations: readonly (
    | 'create'
    | 'list'
    | 'get'
    | 'update'
    | 'upsert'
    | 'delete'
    | 'search'
    | 'activate'
    | 'deactivate'
    | 'deprecate'
    | 'archive'
  )[]
  /** Whether paths and `find` take a reference too, and lists may be filtered by it. */
  readonly byReference: boolean
  /** Whether paths and `find` take a code too, whatever its case. */
  readonly byCode?: boolean
  /** Rules of the `status` field; absent for resources without one. */
  readonly statuses?: StatusRules
  /**
   * What may be done with it instead of a change to the status `to`, or of its deletion when there is none; null where that is what
   * `statuses` say.
   */
  statusAdvice?(row: R, to: string | null): string | null
  /** Whether it has custom fields: in bodies and views, as a filter, and to name it by in a PUT (custom-fields/). */
  readonly customFields?: boolean
  /** Lists without page and limit in the interface answer `{data}` alone. */
  readonly paged?: boolean
  /**
   * The column with its customer, or with another resource whose customer it has: in TEST, calls on it happen in the time of that
   * customer's test clock. Null: its table names one, and its calls happen in the time of the day.
   */
  readonly testClockOf?: string | null
  readonly expand?: Readonly<Record<string, Expansion>>
  readonly flags?: Readonly<Record<string, Flag<R>>>
  /** Brings a row, about to be created or changed, into its canonical form. Runs before `check`; absent fields are null. */
  prepare?(row: R & Given): R & Given
  /** Fills what a create left out, and what a PATCH cleared. Runs before `check`. */
  defaults?(uow: Uow, row: R): Promise<Partial<R>> | Partial<R>
  /**
   * Completes a row from other resources (ids for references, copies of names) and locks what it used. Runs before `check`; every
   * column it changes is saved.
   */
  resolve?(uow: Uow, row: R & Given, previous: R | null): Promise<R> | R
  /** Holds what is held before a row of it in the one order of locks. Runs before a change of its fields holds the row. */
  lockFirst?(uow: Uow, idOrReference: string): Promise<void>
  /** Domain rules over the row as it would be saved; throws AppError. `previous` is null on create. */
  check?(uow: Uow, row: R, previous: R | null): Promise<void> | void
  /** What follows in the same transaction once the row is saved. */
  afterSave?(uow: Uow, row: R, previous: R | null): Promise<void>
  /** Refuses a deletion beyond the DRAFT rule and foreign keys, or removes dependants. */
  beforeDelete?(uow: Uow, row: R): Promise<void>
  /** By what selection rules are about: the condition that they admit a value of it, for `POST …/search`. */
  readonly selectionRules?: Readonly<Record<string, SelectionCondition>>
  /** Fields of the view that are not columns. */
  readonly computed?: Readonly<Record<string, TSchema>>
  compute?(uow: ReadUow, rows: readonly R[]): Promise<readonly Row[]>
  /** Those of them that a row says by itself. */
  derive?(row: R): Row
  /** Columns that are never null, and that `derive` shows as null for some rows. */
  readonly shownNull?: readonly string[]
  /**
   * Its section of the API reference: a title, and what it is in a sentence or two. Absent for those that
   * `api/description/tags.ts` puts in order.
   */
  readonly section?: { readonly title: string; readonly description: string }
  readonly fixture: Fixture
}

/** A resource as its module writes it: every name is one of a column, so that a misspelt one does not compile. */
export type ResourceDefinition<R extends StoredRow, Given = unknown> = Traits<R, Given> & {
  /** That of the ids in its table, where the table says. */
  readonly idPrefix: R['id'] extends Id<infer Prefix> ? Prefix : string
  readonly table: TenantTable & { readonly $inferSelect: R }
  readonly fields: { readonly [Name in keyof R]?: Entry }
  /** Fields of bodies that are no columns: another way to give one, which `resolve` makes of them. */
  readonly given?: { readonly [Name in keyof Given]: Entry }
  readonly filters?: Readonly<Record<string, Filter<NameOf<R>>>>
  /** What columns of ids name, where neither `references` nor `expand` says it: filters by them take its reference too. */
  readonly names?: { readonly [Name in NameOf<R>]?: Named }
  readonly orderBy?: readonly NameOf<R>[]
  /** Columns `POST …/search` may match. */
  readonly searchable?: readonly NameOf<R>[]
  readonly testClockOf?: NameOf<R> | null
  /** Fields that name other resources: checked to exist in this tenant, and locked against deletion until commit. */
  readonly references?: { readonly [Name in keyof R]?: () => Resource }
}

/** The type under which its custom fields are defined; null for a resource without any. */
export const customFieldsType = (
  resource: Pick<Resource, 'customFields' | 'objectType'>,
): ResourceWithCustomFields | null => (resource.customFields ? resource.objectType : null)

export declare const rowType: unique symbol

/** A resource whose rows are `R`; `Resource` alone is any of them. */
export type Resource<R extends StoredRow = StoredRow> = Traits<R, unknown> & {
  /** Never there: it carries the type. */
  readonly [rowType]?: R
  readonly table: TenantTable
  /** The fields of columns and those given otherwise. */
  readonly fields: Readonly<Record<string, Entry>>
  readonly filters?: Readonly<Record<string, Filter>>
  readonly names?: Readonly<Record<string, Named>>
  readonly orderBy?: readonly string[]
  readonly searchable?: readonly string[]
  readonly references?: Readonly<Record<string, () => Resource>>
  readonly createBody: TSchema
  readonly updateBody: TSchema
  readonly view: TSchema
}

/** Completes a definition with the shapes that follow from its fields. */
export function defineResource<R extends StoredRow, Given = unknown>(
  definition: ResourceDefinition<R, Given>,
): Resource<R> {
  const create: TProperties = {}
  const update: TProperties = {}
  const view: TProperties = { object_type: Type.Literal(definition.objectType), id: Type.String() }
  const fields = {
    ...definition.fields,
    ...definition.given,
    ...(definition.customFields ? { [CUSTOM_FIELDS]: field(CustomFieldValues) } : {}),
  } as Readonly<Record<string, Entry>>
  for (const [name, entry] of Object.entries(fields)) {
    const optional = Type.Optional(Nullable(entry.schema))
    if (entry.create !== 'never') create[name] = entry.create === 'required' ? entry.schema : optional
    // Null clears, and what a create must give cannot be cleared.
    if (entry.change !== 'never') update[name] = entry.create === 'required' ? Type.Optional(entry.schema) : optional
    view[name] = entry.shown ? Type.Optional(Nullable(entry.shown)) : optional
  }
  for (const [name, schema] of Object.entries(definition.computed ?? {})) view[name] = Type.Optional(Nullable(schema))
  view.created_at = Timestamp
  view.updated_at = Timestamp
  for (const [name, expansion] of Object.entries(definition.expand ?? {})) {
    if (expansion.within !== undefined) continue
    const isList = expansion.by.endsWith('_ids')
    const target = Included(`${definition.objectType}.${name}`)
    view[name] = Type.Optional(isList ? Type.Array(target) : Nullable(target))
  }
  const shown = Type.Object(view, { title: definition.shapeName })
  const changedBy = new Map(
    Object.entries<Entry | undefined>(definition.fields).flatMap(([name, entry]) =>
      entry?.changedBy === undefined ? [] : [[name, entry.changedBy] as const],
    ),
  )
  const createBody = withFixedFields(Shape(create), { view: shown, changedBy })
  const updateBody = withFixedFields(Shape(update), {
    changedBy,
    create: createBody,
    view: shown,
  })
  const resource = { ...definition, fields, createBody, updateBody, view: shown }
  // Only rows of its own table, and bodies of its own shape, ever reach the hooks of a definition.
  return resource as unknown as Resource<R>
}

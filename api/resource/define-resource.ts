// A resource is one value: its table, its fields, and what its rules add. Routes, shapes, OpenAPI, events and the tenant
// tests all follow from it (api/resource/README.md is the recipe).
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import Type, { type TProperties, type TSchema } from 'typebox'
import type { ReadUow, Uow } from '../../shared/database/database.ts'
import { Nullable, Shape, Timestamp } from './shapes.ts'

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
}

/** A field a client may give. Defaults: optional at creation, changeable always. */
export const field = <T extends TSchema>(
  schema: T,
  options: { create?: 'required' | 'optional'; change?: 'always' | 'draft' | 'never' } = {},
): Entry<T> => ({ schema, create: options.create ?? 'optional', change: options.change ?? 'always' })

/** A field only the service sets: shown, refused by name in requests. */
export const readOnly = <T extends TSchema>(schema: T): Entry<T> => ({ schema, create: 'never', change: 'never' })

// biome-ignore lint/suspicious/noExplicitAny: a row is typed by its own table where a resource is defined; here every table meets.
export type Row = Record<string, any>

/** `from` statuses a verb or a PATCH of `status` may start in, by the status it leads to. */
export type StatusRules = Readonly<Record<string, readonly string[]>>

/** semantics 0.6: ACTIVE never goes back to DRAFT, ARCHIVED is final, DEPRECATED may be activated again. */
export const LIFECYCLE_RULES: StatusRules = {
  ACTIVE: ['DRAFT', 'DEPRECATED'],
  DEPRECATED: ['ACTIVE'],
  ARCHIVED: ['ACTIVE', 'DEPRECATED'],
}

export type Expansion = {
  /** The field with the id or ids, and the resource they name. */
  readonly by: string
  readonly to: () => Resource
  /**
   * The list of the view whose members have the id, or `**` for whatever has it at any depth; their shape says so itself.
   * Absent: the view has it.
   */
  readonly within?: string
}

export type Filter = {
  readonly kind: 'equals' | 'oneOf' | 'range'
  readonly column: string
  readonly schema?: TSchema
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
  make(resource: Resource): Promise<Row>
}

/**
 * A query flag of the calls that change a resource (`?align_product_item_status=true`): what else follows in the same
 * transaction. Runs after a change has been saved, also one that changed nothing, and before a deletion.
 */
export type Flag = {
  readonly description: string
  readonly apply: (uow: Uow, row: Row, action: 'change' | 'delete') => Promise<void>
}

export type ResourceDefinition<R extends Row> = {
  /** `CUSTOMER`: object type, event prefix and permission prefix. */
  readonly objectType: string
  /** `Customer`: name of its shape in the API description. */
  readonly shapeName: string
  readonly idPrefix: string
  /** `customers`: path below /v1. */
  readonly path: string
  readonly table: TenantTable
  readonly fields: Readonly<Record<string, Entry>>
  readonly operations: readonly (
    | 'create'
    | 'list'
    | 'get'
    | 'update'
    | 'upsert'
    | 'delete'
    | 'search'
    | 'activate'
    | 'deprecate'
    | 'archive'
  )[]
  /** Whether paths and `find` take a reference too, and lists may be filtered by it. */
  readonly byReference: boolean
  /** Rules of the `status` field; absent for resources without one. */
  readonly statuses?: StatusRules
  /** Lists without page and limit in the interface answer `{data}` alone. */
  readonly paged?: boolean
  readonly filters?: Readonly<Record<string, Filter>>
  readonly orderBy?: readonly string[]
  /** Columns `POST …/search` may match. */
  readonly searchable?: readonly string[]
  readonly expand?: Readonly<Record<string, Expansion>>
  readonly flags?: Readonly<Record<string, Flag>>
  /** Fields that name other resources: checked to exist in this tenant, and locked against deletion until commit. */
  readonly references?: Readonly<Record<string, () => Resource>>
  /** Brings a row, about to be created or changed, into its canonical form. Runs before `check`; absent fields are null. */
  readonly prepare?: (row: R) => R
  /** Fills what a create left out, and what a PATCH cleared. Runs before `check`. */
  readonly defaults?: (uow: Uow, row: R) => Promise<Partial<R>> | Partial<R>
  /** Completes a row from other resources (ids for references, copies of names) and locks what it used. Runs before `check`. */
  readonly resolve?: (uow: Uow, row: R, previous: R | null) => Promise<R> | R
  /** Domain rules over the row as it would be saved; throws AppError. `previous` is null on create. */
  readonly check?: (uow: Uow, row: R, previous: R | null) => Promise<void> | void
  /** What follows in the same transaction once the row is saved. */
  readonly afterSave?: (uow: Uow, row: R, previous: R | null) => Promise<void>
  /** Refuses a deletion beyond the DRAFT rule and foreign keys, or removes dependants. */
  readonly beforeDelete?: (uow: Uow, row: R) => Promise<void>
  /** Fields of the view that are not columns. */
  readonly computed?: Readonly<Record<string, TSchema>>
  readonly compute?: (uow: ReadUow, rows: readonly R[]) => Promise<readonly Row[]>
  readonly fixture: Fixture
}

export type Resource = ResourceDefinition<Row> & {
  readonly createBody: TSchema
  readonly updateBody: TSchema
  readonly view: TSchema
}

/** Completes a definition with the shapes that follow from its fields. */
export function defineResource<R extends Row>(definition: ResourceDefinition<R>): Resource {
  const create: TProperties = {}
  const update: TProperties = {}
  const view: TProperties = { object_type: Type.Literal(definition.objectType), id: Type.String() }
  for (const [name, entry] of Object.entries(definition.fields)) {
    const optional = Type.Optional(Nullable(entry.schema))
    if (entry.create !== 'never') create[name] = entry.create === 'required' ? entry.schema : optional
    // Null clears, and what a create must give cannot be cleared.
    if (entry.change !== 'never') update[name] = entry.create === 'required' ? Type.Optional(entry.schema) : optional
    view[name] = optional
  }
  for (const [name, schema] of Object.entries(definition.computed ?? {})) view[name] = Type.Optional(Nullable(schema))
  view['created_at'] = Timestamp
  view['updated_at'] = Timestamp
  for (const [name, expansion] of Object.entries(definition.expand ?? {})) {
    if (expansion.within !== undefined) continue
    const isList = expansion.by.endsWith('_ids')
    const target = Type.Object({}, { additionalProperties: true })
    view[name] = Type.Optional(isList ? Type.Array(target) : Nullable(target))
  }
  return {
    // A row of this table is all that ever reaches the hooks of this definition, so widening R to Row is sound.
    ...(definition as unknown as ResourceDefinition<Row>),
    createBody: Shape(create),
    updateBody: Shape(update),
    view: Type.Object(view, { title: definition.shapeName }),
  }
}

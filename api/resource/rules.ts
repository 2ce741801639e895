// What modules above a resource add to its changes: guards, which may refuse one, and effects, which follow it in the same
// transaction. A resource knows neither who names it nor who follows it. They come with the unit of work, so that every change
// meets them, wherever it is made.
import { and, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { type Database, type Uow, withContext } from '../../shared/database/database.ts'
import { AppError } from '../../shared/errors.ts'
import type { DeclaredPermissions } from '../http/permissions.ts'
import type { TestClockSubject } from '../test-clock/test-clock-subject.ts'
import type { rowType, TenantTable } from './define-resource.ts'
import { inThisTenant } from './tenant-condition.ts'

/** What this installation is, for the rules that depend on it. */
export type Installation = {
  /** Every permission that some route needs; none in a process without routes. */
  readonly permissions: DeclaredPermissions
  /** Whether there is a tax engine that billing entities may use. */
  readonly taxEngine?: boolean
  /** How far a platform may raise its own ingest limits; absent: as far as the fields go. */
  readonly ingestCeilings?: { readonly eventsPerSecond: number; readonly batchLimit: number } | undefined
}

type Identified = { readonly id: string }
/** What rules are about: a resource, or a thing of another kind that has commands of its own, such as a user. */
export type Subject<R extends Identified = Identified> = { readonly objectType: string; readonly [rowType]?: R }

type OnSave<R extends Identified> = (uow: Uow, row: R, previous: R | null, here: Installation) => Promise<void> | void
type OnDelete<R extends Identified> = (uow: Uow, row: R, here: Installation) => Promise<void> | void

/** Refuses a change of a resource by throwing an AppError. Hooks are methods, as those of resources are. */
export type Guard = {
  readonly objectType: string
  beforeSave?(uow: Uow, row: Identified, previous: Identified | null, here: Installation): Promise<void> | void
  beforeDelete?(uow: Uow, row: Identified, here: Installation): Promise<void> | void
}

/** Follows a change of a resource, in its transaction: once the row is saved, or before it is deleted. */
export type Effect = {
  readonly objectType: string
  afterSave?(uow: Uow, row: Identified, previous: Identified | null, here: Installation): Promise<void> | void
  withDelete?(uow: Uow, row: Identified, here: Installation): Promise<void> | void
}

// Only rows of the subject's own kind reach its rules, so what takes `R` is given nothing else.
const of = <R extends Identified>({ objectType }: Subject<R>) => ({ objectType })

/** Judges every row of the resource that is about to be saved; `previous` is null for one that is new. */
export const beforeSave = <R extends Identified>(subject: Subject<R>, refuse: OnSave<R>): Guard => ({
  ...of(subject),
  beforeSave: refuse as OnSave<Identified>,
})

/** Judges every row of the resource that is about to be deleted. The row is locked. */
export const beforeDelete = <R extends Identified>(subject: Subject<R>, refuse: OnDelete<R>): Guard => ({
  ...of(subject),
  beforeDelete: refuse as OnDelete<Identified>,
})

/** What follows every saved change of the resource. */
export const afterSave = <R extends Identified>(subject: Subject<R>, follow: OnSave<R>): Effect => ({
  ...of(subject),
  afterSave: follow as OnSave<Identified>,
})

/** What is deleted with a row of the resource, once no guard stands against it. */
export const withDelete = <R extends Identified>(subject: Subject<R>, remove: OnDelete<R>): Effect => ({
  ...of(subject),
  withDelete: remove as OnDelete<Identified>,
})

/** Where ids of a resource stand that no foreign key holds. */
export type Naming = {
  readonly table: TenantTable
  /** What a row of the table is called in a refusal: `pricing`. */
  readonly noun: string
  /** What a refusal names the row by: its id by default. */
  readonly shown?: PgColumn
  /** Whether a row names the id. */
  readonly names: (id: string) => SQL
}

/** A jsonb column that contains what `shape` makes of an id, as its index finds it. */
export const containing =
  (column: PgColumn, shape: (id: string) => unknown): Naming['names'] =>
  id =>
    sql`${column} @> ${JSON.stringify(shape(id))}::jsonb`

/** Rows whose JSON `column` has the id at a path, such as `$.**.configs[*].id`. */
export const containingAt =
  (column: PgColumn, path: string): Naming['names'] =>
  id =>
    sql`jsonb_path_exists(${column}, ${`${path} ? (@ == $id)`}::jsonpath, jsonb_build_object('id', ${id}::text))`

/**
 * Keeps what a row of another table names from being deleted: throws COULD_NOT_DELETE_RESOURCE. Whoever saves such a row locks what
 * it names, and whoever deletes holds the row that is named, so neither can miss the other.
 */
export const namedBy = (resource: Subject, { table, noun, shown = table.id, names }: Naming): Guard =>
  beforeDelete(resource, async (uow, { id }) => {
    const [row] = await uow.tx
      .select({ shown })
      .from(table)
      .where(and(inThisTenant(uow, table), names(id)))
      .limit(1)
    if (!row) return
    throw new AppError('COULD_NOT_DELETE_RESOURCE', `The ${noun} ${row.shown} names it; remove it there first.`, {
      resourceId: id,
      resourceType: resource.objectType,
    })
  })

/** A place where a module above takes part in what a module below computes; the one below defines it, with its form. */
export type Place<T> = { readonly name: string; readonly of?: T }
/** What a module puts there. */
export type Extension = { readonly place: string; readonly value: unknown }

export const extend = <T>({ name }: Place<T>, value: T): Extension => ({ place: name, value })

/** Everything that modules have put there; nothing for a unit of work without rules. */
export const extensionsOf = <T>({ context }: Pick<Database, 'context'>, { name }: Place<T>): readonly T[] =>
  // Only `extend` makes one, by a place of the same form.
  isRuled(context) ? context.extensions.filter(({ place }) => place === name).map(({ value }) => value as T) : []

export type Rules = {
  readonly guards: readonly Guard[]
  readonly effects: readonly Effect[]
  readonly extensions?: readonly Extension[]
  readonly testClockSubjects?: readonly TestClockSubject[]
}
type Ruled = {
  readonly testClockSubjects: readonly TestClockSubject[]
  readonly extensions: readonly Extension[]
  readonly guards: ReadonlyMap<string, readonly Guard[]>
  readonly effects: ReadonlyMap<string, readonly Effect[]>
  readonly here: Installation
}

function byObjectType<T extends { readonly objectType: string }>(all: readonly T[]): ReadonlyMap<string, T[]> {
  const types = new Set(all.map(({ objectType }) => objectType))
  return new Map([...types].map(type => [type, all.filter(({ objectType }) => objectType === type)]))
}

/** The database as the api and its worker use it: each of its units of work meets the rules. */
export function withRules(
  database: Database,
  { guards, effects, extensions = [], testClockSubjects = [] }: Rules,
  here: Installation,
): Database {
  const rules: Ruled = {
    guards: byObjectType(guards),
    effects: byObjectType(effects),
    extensions,
    testClockSubjects,
    here,
  }
  return withContext(database, rules)
}

const isRuled = (context: unknown): context is Ruled =>
  typeof context === 'object' && context !== null && 'guards' in context && 'effects' in context

/** What may live in the time of a test clock, by those who say so; nothing for a database without rules. */
export const testClockSubjectsOf = ({ context }: Pick<Database, 'context'>): readonly TestClockSubject[] =>
  isRuled(context) ? context.testClockSubjects : []

/** Throws for a unit of work without rules: a change that no guard has seen is a fault of the program. */
function rulesOf({ context }: Uow): Ruled {
  if (isRuled(context)) return context
  throw new Error('this database carries no rules of resources; open it with withRules (api/resource/rules.ts)')
}

/** Asks the guards of a change, before it is kept. A command that saves by other means than `saveNew` and `saveChange` calls it. */
export async function guardSave(
  uow: Uow,
  resource: Subject,
  row: Identified,
  previous: Identified | null,
): Promise<void> {
  const { guards, here } = rulesOf(uow)
  for (const guard of guards.get(resource.objectType) ?? []) await guard.beforeSave?.(uow, row, previous, here)
}

/** Asks the guards of a deletion, then deletes what goes with it. */
export async function guardDelete(uow: Uow, resource: Subject, row: Identified): Promise<void> {
  const { guards, effects, here } = rulesOf(uow)
  for (const guard of guards.get(resource.objectType) ?? []) await guard.beforeDelete?.(uow, row, here)
  for (const effect of effects.get(resource.objectType) ?? []) await effect.withDelete?.(uow, row, here)
}

/** Runs what follows a saved row; of an invoice too, which is no resource. */
export async function followSave(
  uow: Uow,
  resource: Subject,
  row: Identified,
  previous: Identified | null,
): Promise<void> {
  const { effects, here } = rulesOf(uow)
  for (const effect of effects.get(resource.objectType) ?? []) await effect.afterSave?.(uow, row, previous, here)
}

// What calls are about whose time a test clock may tell: customers and what belongs to them. Each says itself whose it is
// (`testClockOf` of a resource, `testClockSubjects` of a module), and the customer is found by that.
import { type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { ReadUow } from '../../shared/database/database.ts'
import type { TenantTable } from '../resource/define-resource.ts'
import { inThisTenant } from '../resource/tenant-condition.ts'

export type TestClockSubject = {
  readonly objectType: string
  /** `customers`: path below /v1. */
  readonly path: string
  readonly table: TenantTable & { readonly reference?: PgColumn }
  /** Whether a reference names it too. */
  readonly byReference: boolean
  /** The column with its customer, or with another subject whose customer it has; `id` of customers themselves. */
  readonly testClockOf: string
}

/** `pricing_plan_subscription`: what a body calls it, and, with `_id`, what a column that names it is called. */
export const memberOf = ({ objectType }: Pick<TestClockSubject, 'objectType'>): string => objectType.toLowerCase()

/** A query of the ids of every customer that one of `names` is of, whatever subject it names. */
export const customersNamedBy = (
  uow: ReadUow,
  subjects: readonly TestClockSubject[],
  names: readonly string[],
): SQL => {
  const named = sql`any(${sql.param(names)}::text[])`
  const queries = subjects.map(subject => {
    const { id, reference } = subject.table
    const found =
      subject.byReference && reference ? sql`(${id} = ${named} or ${reference} = ${named})` : sql`${id} = ${named}`
    return customersOf(uow, subjects, subject, found)
  })
  return sql.join(queries, sql` union all `)
}

/** Goes from those rows of `subject` that are `found` to their customers, by way of the subjects in between. */
function customersOf(uow: ReadUow, subjects: readonly TestClockSubject[], subject: TestClockSubject, found: SQL): SQL {
  const { table, testClockOf } = subject
  const owners = sql`select ${columnOf(subject)} from ${table} where ${inThisTenant(uow, table)} and ${found}`
  const owner = subjects.find(other => testClockOf === `${memberOf(other)}_id`)
  return owner && owner.testClockOf !== 'id'
    ? customersOf(uow, subjects, owner, sql`${owner.table.id} in (${owners})`)
    : owners
}

function columnOf({ table, testClockOf, objectType }: TestClockSubject): PgColumn {
  const column = (table as unknown as Readonly<Record<string, PgColumn>>)[testClockOf]
  if (!column)
    throw new Error(`${objectType} has no column ${testClockOf}, by which it says whose test clock it follows`)
  return column
}

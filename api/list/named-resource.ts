// The filters that name a resource: by its id, or by its reference as paths do.
import { and, arrayContains, eq, inArray, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { ReadUow } from '../../shared/database/database.ts'
import { looksLikeId } from '../../shared/ids.ts'
import { resourceOf } from '../resource/above.ts'
import { inThisTenant } from '../resource/tenant-condition.ts'
import type { Named, NamedResource } from './filter.ts'

/** The condition that the column holds the id of what one of these texts names. */
export function isOneNamed(uow: ReadUow, column: PgColumn, texts: readonly string[], to?: Named): SQL {
  const named = to && resourceOf(uow, to)
  if (named && texts.some(text => isReference(named, text)))
    return sql`${column} = any(${idsOfNamed(uow, texts, named)})`
  const [text] = texts
  return texts.length === 1 ? eq(column, text) : inArray(column, [...texts])
}

/** The condition that a list of ids contains that of what the text names. */
export function containsNamed(uow: ReadUow, column: PgColumn, text: string, to?: Named): SQL {
  const named = to && resourceOf(uow, to)
  return named ? sql`${column} && ${idsOfNamed(uow, [text], named)}` : arrayContains(column, [text])
}

/**
 * The ids that these texts name, as an array of the database. It is read once, before the list, so that an index on a column of ids
 * serves as it does for an id. A reference that nothing has names none.
 */
export const idsNamed = (uow: ReadUow, texts: readonly string[], to: Named): SQL =>
  idsOfNamed(uow, texts, resourceOf(uow, to))

function idsOfNamed(uow: ReadUow, texts: readonly string[], named: NamedResource): SQL {
  const ids = sql`${sql.param(texts.filter(text => !isReference(named, text)))}::text[]`
  const references = texts.filter(text => isReference(named, text))
  if (references.length === 0) return ids
  const { table } = named
  const found = uow.tx
    .select({ id: table.id })
    .from(table)
    .where(and(inThisTenant(uow, table), inArray(referenceOf(table), references)))
  return sql`(array(${found})::text[] || ${ids})`
}

const isReference = ({ byReference }: NamedResource, text: string): boolean => byReference && !looksLikeId(text)

function referenceOf(table: PgTable): PgColumn {
  const column = (table as unknown as Record<string, PgColumn | undefined>)['reference']
  if (!column) throw new Error('a resource by reference has no column for it')
  return column
}

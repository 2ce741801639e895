// Names under which statements are prepared. To read and plan a statement of thirty columns, under row-level security, costs PostgreSQL
// several times what it costs to answer it: a connection that was asked it before keeps its plan.
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import type pg from 'pg'
import { drizzleOn } from './drizzle-on.ts'

/** A query as the driver takes it. */
export type NamedQuery = { readonly text: string; readonly name?: string }

type Naming = (asked: NamedQuery, values: readonly unknown[] | undefined) => NamedQuery

/**
 * Names the queries that have values. The same text always gets the same name. `max`: how many texts get one in this process; each connection
 * keeps the plans of those that it has run. `fromSecond`: a text gets its name when it comes for the second time.
 */
function namesOf(prefix: string, { max, fromSecond }: { readonly max: number; readonly fromSecond: boolean }): Naming {
  const names = new Map<string, string>()
  const seen = new Set<string>()
  const nameOf = (text: string): string | undefined => {
    const known = names.get(text)
    if (known !== undefined || names.size >= max) return known
    if (fromSecond && !seen.delete(text)) {
      if (seen.size >= SEEN_MAX) seen.clear()
      seen.add(text)
      return undefined
    }
    const name = `${prefix} ${names.size}`
    names.set(text, name)
    return name
  }
  return (asked, values) => {
    const name = asked.name !== undefined || !values?.length ? undefined : nameOf(asked.text)
    return name === undefined ? asked : { ...asked, name }
  }
}

/** How many texts are remembered that came once. Some depend on how many values there are, and never come again. */
const SEEN_MAX = 2_000

/** For work that is known to ask the same again and again. */
export const withName = namesOf('kept', { max: 200, fromSecond: false })

/** For all other statements of changes. They have a limit of their own, so that they cannot use up the names of the work above. */
export const withNameIfOften = namesOf('often', { max: 600, fromSecond: true })

/** The connection with its queries named by `naming`. `onQuery` is called before each of them is sent. */
export function namedBy(naming: Naming, client: pg.PoolClient, onQuery: (asked: NamedQuery) => void): NodePgDatabase {
  const query = (asked: NamedQuery, values?: unknown[]) => {
    onQuery(asked)
    return client.query(naming(asked, values), values)
  }
  return drizzleOn(Object.create(client, { query: { value: query } }) as pg.PoolClient)
}

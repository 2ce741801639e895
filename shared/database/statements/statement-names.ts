// Names under which statements are prepared. To read and plan a statement of thirty columns, under row-level security, costs PostgreSQL
// several times what it costs to answer it: a connection that was asked it before keeps its plan.

/** A query as the driver takes it. */
export type NamedQuery = { readonly text: string; readonly name?: string }

type Naming = (asked: NamedQuery, values: readonly unknown[] | undefined) => NamedQuery

/**
 * Names queries that have values, as many as `max` in a process: each connection holds what it keeps of those that it was asked. The same
 * text has the same name; one that comes when there are enough has none. `fromSecond`: a text that came only once has none either.
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

/** For the work that says of itself that it asks the same again and again. */
export const withName = namesOf('kept', { max: 200, fromSecond: false })

/** For whatever a change asks. It has names of its own, so that many kinds of changes never leave none for what runs all the time. */
export const withNameIfOften = namesOf('often', { max: 600, fromSecond: true })

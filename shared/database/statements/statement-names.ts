// Names under which statements are prepared. To read and plan a statement of thirty columns, under row-level security, costs PostgreSQL
// several times what it costs to answer it: a connection that was asked it before keeps its plan.

/** How many statements are named in a process: each connection holds what it keeps of those that it was asked. */
const NAMED_MAX = 400
/** How many texts are remembered that came once. Some depend on how many values there are, and never come again. */
const SEEN_MAX = 2_000
const names = new Map<string, string>()
const seen = new Set<string>()

/** A query as the driver takes it. */
export type NamedQuery = { readonly text: string; readonly name?: string }

/** The same query under a name, if it has values and its text came before; as it was when there are names enough. */
export function withName(asked: NamedQuery, values: readonly unknown[] | undefined): NamedQuery {
  if (asked.name !== undefined || !values?.length) return asked
  const name = nameOf(asked.text)
  return name === undefined ? asked : { ...asked, name }
}

function nameOf(text: string): string | undefined {
  const known = names.get(text)
  if (known !== undefined || names.size >= NAMED_MAX) return known
  if (!seen.delete(text)) {
    if (seen.size >= SEEN_MAX) seen.clear()
    seen.add(text)
    return undefined
  }
  const name = `kept ${names.size}`
  names.set(text, name)
  return name
}

// Parameters of the OAuth endpoints: each at most once, and text.

export type ReadParameters = {
  /** Those that came exactly once. */
  readonly values: Readonly<Record<string, string | undefined>>
  /** The name of one that came more than once, or null. */
  readonly repeated: string | null
}

/** The parameters of a query or a form as they were parsed. An empty value counts as absent (RFC 6749 section 3.1). */
export function singleValues(parsed: unknown): ReadParameters {
  const values: Record<string, string | undefined> = Object.create(null)
  let repeated: string | null = null
  const entries = typeof parsed === 'object' && parsed !== null ? Object.entries(parsed) : []
  for (const [name, value] of entries) {
    if (typeof value === 'string') values[name] = value === '' ? undefined : value
    else repeated ??= name
  }
  return { values, repeated }
}

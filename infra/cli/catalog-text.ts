// A catalog file as text: JSON or YAML, by its name.
import { parse, stringify } from 'yaml'

const isJson = (path: string): boolean => path.toLowerCase().endsWith('.json')

/** Throws an Error that names the file when it is neither. Numbers stay texts where the file quotes them. */
export function readCatalogText(text: string, path: string): unknown {
  try {
    return isJson(path) ? JSON.parse(text) : parse(text)
  } catch (error) {
    throw new Error(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** The same catalog is the same text, so that a diff shows what changed. */
export const writeCatalogText = (catalog: unknown, path: string): string =>
  isJson(path)
    ? `${JSON.stringify(readable(catalog), null, 2)}\n`
    : stringify(readable(catalog), { lineWidth: 120, aliasDuplicateObjects: false })

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** How many levels a value holds: none for a text or a number. */
const levelsIn = (value: unknown): number => {
  if (!Array.isArray(value) && !isRecord(value)) return 0
  return 1 + Math.max(0, ...Object.values(value).map(levelsIn))
}

/**
 * What says what an entry is stands before what it holds: the name of a plan before its versions, the type of a price before its
 * bands. The sections of the file keep their order, in which an entry names only those before it.
 */
function readable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(readable)
  if (!isRecord(value)) return value
  const members = Object.entries(value)
  const ordered = 'format' in value ? members : members.toSorted(([, a], [, b]) => levelsIn(a) - levelsIn(b))
  return Object.fromEntries(ordered.map(([name, member]) => [name, readable(member)]))
}

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
    ? `${JSON.stringify(catalog, null, 2)}\n`
    : stringify(catalog, { lineWidth: 120, aliasDuplicateObjects: false })

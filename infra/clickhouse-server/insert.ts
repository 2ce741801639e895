// Recognises the plain INSERT whose data the engine can take as bytes, without a copy through a JavaScript string.

export type RawFormat = 'JSONEachRow' | 'JSONCompactEachRow'
export type PlainInsert = {
  readonly table: string
  readonly columns: readonly string[] | null
  readonly format: RawFormat
}

const IDENTIFIER = '(?:[A-Za-z_][A-Za-z0-9_]*|`[A-Za-z_][A-Za-z0-9_]*`|"[A-Za-z_][A-Za-z0-9_]*")'
const PLAIN = new RegExp(
  `^\\s*INSERT\\s+INTO\\s+(?:TABLE\\s+)?(${IDENTIFIER}(?:\\.${IDENTIFIER})?)\\s*` +
    `(?:\\(\\s*(${IDENTIFIER}(?:\\s*,\\s*${IDENTIFIER})*)\\s*\\))?\\s*FORMAT\\s+(JSONEachRow|JSONCompactEachRow)\\s*;?\\s*$`,
  'i',
)
const unquote = (text: string): string => text.replaceAll(/[`"\s]/g, '')

/** Whether the statement is an INSERT at all, plain or not. */
export const isInsert = (sql: string): boolean => /^\s*INSERT\s/i.test(sql)

/** The parts of a plain INSERT, or null for any other statement (settings, SELECT, odd names, other formats). */
export function parsePlainInsert(sql: string): PlainInsert | null {
  const match = PLAIN.exec(sql)
  const [, table, columns, format] = match ?? []
  if (!table || !format) return null
  return {
    table: unquote(table),
    columns: columns ? unquote(columns).split(',') : null,
    format: format.toLowerCase() === 'jsoneachrow' ? 'JSONEachRow' : 'JSONCompactEachRow',
  }
}

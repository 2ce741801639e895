// The fields of lines, by the rules of RFC 4180: commas between them, quotes around those that need it.
import { parse } from 'csv-parse/sync'

/** The fields of a line, or what is wrong with it. */
export type Fields = readonly string[] | { readonly fault: string }

const OPTIONS = {
  record_delimiter: ['\r\n', '\n'],
  relax_column_count: true,
  skip_empty_lines: true,
  bom: false,
}
const LINE_END = Buffer.from('\n')

/** The fields of each line, in their order. One that is not well-formed says so and spoils no other. */
export function parseRecords(lines: readonly Buffer[]): Fields[] {
  return parseTogether(lines) ?? lines.map(line => parseTogether([line])?.[0] ?? { fault: NOT_CSV })
}

const NOT_CSV =
  'The line is not well-formed: a field with a quote, a comma or a line end stands in quotes, and a quote in it is doubled.'

/** All lines in one go, which is many times faster; null when they are not as many as were given, or one is malformed. */
function parseTogether(lines: readonly Buffer[]): string[][] | null {
  try {
    const records = parse(Buffer.concat(lines.flatMap(line => [line, LINE_END])), OPTIONS)
    return records.length === lines.length ? records : null
  } catch {
    // Its message counts lines and columns from a start the uploader does not know.
    return null
  }
}

/** A row of CSV without a line end. */
export const writeRecord = (fields: readonly string[]): string =>
  fields.map(field => (/[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(',')

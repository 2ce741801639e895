// The first line of a file: the names of its columns.
import { isUtf8 } from 'node:buffer'
import { UnreadableFile } from '../unreadable-file.ts'
import { parseRecords } from './parse-records.ts'

export const COLUMNS_MAX = 1_000

/** The names of the columns. Throws UnreadableFile with what to change when they cannot be recognized. */
export function readHeader(line: Buffer): string[] {
  if ((line[0] === 0xff && line[1] === 0xfe) || (line[0] === 0xfe && line[1] === 0xff)) {
    throw new UnreadableFile('The file is UTF-16; save it as UTF-8.')
  }
  if (!isUtf8(line)) throw new UnreadableFile('The header is not UTF-8; save the file as UTF-8.')
  if (line.includes(0)) throw new UnreadableFile('The header holds a NUL character; this is no text in UTF-8.')
  const [fields] = parseRecords([line])
  if (fields === undefined || 'fault' in fields) throw new UnreadableFile(`The header cannot be read. ${fields?.fault}`)
  const names = fields.map(name => name.trim())
  if (names.length > COLUMNS_MAX) {
    throw new UnreadableFile(`The header has ${names.length} columns; at most ${COLUMNS_MAX} are read.`)
  }
  if (names.length === 1 && /[;\t]/.test(names[0] ?? '')) {
    throw new UnreadableFile('The columns must be separated by commas, not by semicolons or tabs.')
  }
  if (names.some(name => name.includes('\r'))) {
    throw new UnreadableFile('The lines must end in LF or CRLF, not in CR alone.')
  }
  const seen = new Set<string>()
  for (const [index, name] of names.entries()) {
    if (name === '') throw new UnreadableFile(`Column ${index + 1} of the header has no name.`)
    if (seen.has(name)) throw new UnreadableFile(`The header names the column ${JSON.stringify(name)} twice.`)
    seen.add(name)
  }
  return names
}

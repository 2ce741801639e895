// Bytes to a JSON value, strictly: UTF-8, bounded depth, and a count of keys by which a repeated key is found.
import { isUtf8 } from 'node:buffer'
import { AppError } from '../../shared/errors.ts'
import { type JsonScan, scanJson } from './scan-json.ts'

/** The value of a JSON body and what its text was like. Throws BAD_REQUEST when it is not JSON in UTF-8. */
export function parseJson(body: Buffer): { value: unknown; scan: JsonScan } {
  const scan = scanJson(body)
  if (!scan.plain && !isUtf8(body)) throw new AppError('BAD_REQUEST', 'The body is not valid UTF-8.')
  try {
    return { value: JSON.parse(body.toString(scan.plain ? 'latin1' : 'utf8')), scan }
  } catch (cause) {
    throw new AppError('BAD_REQUEST', 'The body is not valid JSON.', { cause })
  }
}

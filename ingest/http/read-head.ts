// What the gateway wants to know of a request's headers, taken in one pass: getHeader would hide a header sent twice.
import { AppError } from '../../shared/errors.ts'
import type { UwsRequest } from './load-uws.ts'

export type Head = {
  readonly query: string
  readonly apiKeys: readonly string[]
  readonly hasAuthorization: boolean
  /** Bytes announced, or null when the body comes in chunks. */
  readonly contentLength: number | null
}

const CONTENT_TYPE = /^application\/json(?:\s*;\s*charset\s*=\s*"?utf-8"?)?\s*$/i

/** A fault in the framing itself: what follows on the connection may be another request than we think. */
export class FramingError extends AppError {}

/** Reads the headers of a request with a JSON body. Throws FramingError or UNSUPPORTED_MEDIA_TYPE. */
export function readHead(req: UwsRequest): Head {
  const apiKeys: string[] = []
  let hasAuthorization = false
  let contentLength: string | null = null
  let lengthsDiffer = false
  let contentType = ''
  let contentEncoding = ''
  req.forEach((name, value) => {
    switch (name) {
      case 'x-api-key':
        apiKeys.push(value)
        break
      case 'authorization':
        hasAuthorization = true
        break
      case 'content-length':
        if (contentLength !== null && contentLength !== value) lengthsDiffer = true
        contentLength = value
        break
      case 'content-type':
        contentType = value
        break
      case 'content-encoding':
        contentEncoding = value
        break
    }
  })
  if (lengthsDiffer) throw new FramingError('BAD_REQUEST', 'Content-Length is given twice, with different values.')
  if (contentEncoding !== '' && contentEncoding.toLowerCase() !== 'identity') {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Send the body without Content-Encoding.')
  }
  if (contentType !== 'application/json' && !CONTENT_TYPE.test(contentType)) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as Content-Type: application/json.')
  }
  return {
    query: req.getQuery() ?? '',
    apiKeys,
    hasAuthorization,
    contentLength: contentLength === null ? null : Number(contentLength),
  }
}

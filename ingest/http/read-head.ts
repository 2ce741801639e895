// What the gateway wants to know of a request's headers, taken in one pass: getHeader would hide a header sent twice.
import { AppError } from '../../shared/errors.ts'
import { Framing } from './framing.ts'
import type { UwsRequest } from './load-uws.ts'

export type Head = {
  readonly query: string
  readonly apiKeys: readonly string[]
  readonly hasAuthorization: boolean
  readonly originalUsers: readonly string[]
  /** X-PLATFORM-ID and X-ENVIRONMENT, which must be those of the key; repeats are joined, and so are none of anyone's. */
  readonly platformId: string | null
  readonly environment: string | null
  /** Bytes announced, or null when the body comes in chunks. */
  readonly contentLength: number | null
}

const CONTENT_TYPE = /^application\/json(?:\s*;\s*charset\s*=\s*"?utf-8"?)?\s*$/i

const NONE: readonly string[] = []

/** Reads the headers of a request with a JSON body. Throws FramingError or UNSUPPORTED_MEDIA_TYPE. */
export function readHead(req: UwsRequest, mayBeChunked = true): Head {
  const apiKeys: string[] = []
  let originalUsers: string[] | null = null
  let platformId: string | null = null
  let environment: string | null = null
  let hasAuthorization = false
  const framing = new Framing(mayBeChunked)
  let contentType = ''
  let contentEncoding = ''
  req.forEach((name, value) => {
    framing.count()
    switch (name) {
      case 'x-api-key':
        apiKeys.push(value)
        break
      case 'authorization':
        hasAuthorization = true
        break
      case 'x-original-user':
        originalUsers ??= []
        originalUsers.push(value)
        break
      case 'x-platform-id':
        platformId = platformId === null ? value : `${platformId}, ${value}`
        break
      case 'x-environment':
        environment = environment === null ? value : `${environment}, ${value}`
        break
      case 'content-length':
      case 'transfer-encoding':
        framing.take(name, value)
        break
      case 'content-type':
        contentType = value
        break
      case 'content-encoding':
        contentEncoding = value
        break
    }
  })
  const contentLength = framing.contentLength()
  framing.requireEnd()
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
    originalUsers: originalUsers ?? NONE,
    platformId,
    environment,
    contentLength,
  }
}

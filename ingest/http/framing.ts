// Where a request ends. uWebSockets is lenient where a proxy in front of us may read otherwise, and what one of the two
// takes for a body the other takes for a request.
import { AppError } from '../../shared/errors.ts'
import type { UwsRequest } from './load-uws.ts'

/** A fault in the framing itself: what follows on the connection may be another request than we think. */
export class FramingError extends AppError {}

/** More headers are refused by some builds of uWebSockets.js, without an answer, and read by others. */
const HEADERS_MAX = 50

/** What the headers say of the body's end. */
export class Framing {
  private headers = 0
  private length: string | null = null
  private lengthFault = false
  private isChunked = false
  private codingFault = false
  private readonly mayBeChunked: boolean

  constructor(mayBeChunked = true) {
    this.mayBeChunked = mayBeChunked
  }

  /** Counts a header, of whatever name. */
  count(): void {
    this.headers += 1
  }

  /** Takes a header, by its name in lower case. */
  take(name: string, value: string): void {
    if (name === 'content-length') {
      if (value === '' || (this.length !== null && this.length !== value)) this.lengthFault = true
      this.length = value
    } else if (name === 'transfer-encoding') {
      if (this.isChunked || value.toLowerCase() !== 'chunked') this.codingFault = true
      this.isChunked = true
    }
  }

  /**
   * Throws FramingError when no header says where the body ends. uWebSockets ends the list at a header without a name and shows
   * none after it: a Content-Length there is hidden, and the body would be read as the next request.
   */
  requireEnd(): void {
    if (this.length === null && !this.isChunked)
      throw new FramingError('BAD_REQUEST', 'Send the body with Content-Length, and no header without a name.', {
        status: 411,
      })
  }

  /** Bytes announced, or null when the body comes in chunks or not at all. Throws FramingError. */
  contentLength(): number | null {
    if (this.headers > HEADERS_MAX) throw new FramingError('BAD_REQUEST', `Send at most ${HEADERS_MAX} headers.`)
    if (this.lengthFault) throw new FramingError('BAD_REQUEST', 'Give Content-Length once, as a number of bytes.')
    if (this.codingFault) throw new FramingError('BAD_REQUEST', 'The only Transfer-Encoding is chunked, given once.')
    if (this.isChunked && !this.mayBeChunked)
      throw new FramingError('BAD_REQUEST', 'Send the body with Content-Length, not in chunks.', { status: 411 })
    return this.length === null ? null : Number(this.length)
  }
}

/** Throws FramingError when the end of the request is in doubt. */
export function checkFraming(req: UwsRequest): void {
  const framing = new Framing()
  req.forEach((name, value) => {
    framing.count()
    framing.take(name, value)
  })
  framing.contentLength()
}

// One request and its answer. The rest of the gateway never sees uWebSockets: a response touched after the client left, or
// written outside a cork, is a crash or a waste, and both are dealt with here.
import type { AppError } from '../../shared/errors.ts'
import type { UwsResponse } from './load-uws.ts'
import { REQUEST_ID_LENGTH, RequestId } from './request-id.ts'

const STATUS_LINES: Readonly<Record<number, string>> = {
  200: '200 OK',
  201: '201 Created',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  403: '403 Forbidden',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  409: '409 Conflict',
  411: '411 Length Required',
  413: '413 Content Too Large',
  415: '415 Unsupported Media Type',
  422: '422 Unprocessable Content',
  429: '429 Too Many Requests',
  500: '500 Internal Server Error',
  503: '503 Service Unavailable',
}

const JSON_TYPE = 'application/json'

/** What keeps every answer private and harmless in a browser, as the api's do. */
const PRIVATE = 'Cache-Control: no-store\r\nX-Content-Type-Options: nosniff'

/** The status line and the headers every answer has, in one: each call into uWebSockets costs as much as a header. */
const headOf = (status: number, contentType: string): Buffer =>
  Buffer.from(
    `${STATUS_LINES[status] ?? status}\r\nContent-Type: ${contentType}\r\n${PRIVATE}\r\nX-REQUEST-ID: ${' '.repeat(REQUEST_ID_LENGTH)}`,
    'latin1',
  )
const jsonHeads = new Map<number, Buffer>()

/** As headOf, made once for each status of a JSON answer. Good until the next answer. */
function jsonHead(status: number): Buffer {
  const known = jsonHeads.get(status)
  if (known !== undefined) return known
  const head = headOf(status, JSON_TYPE)
  jsonHeads.set(status, head)
  return head
}

export type Answer = {
  readonly status: number
  readonly body: string | Uint8Array
  readonly contentType?: string
  readonly retryAfterSeconds?: number
  readonly allow?: string
  /** Close the connection afterwards: what follows on it cannot be trusted, or is not wanted. */
  readonly close?: boolean
}

export type ExchangeObserver = {
  opened(): void
  /** The answer is written, or the client is gone. */
  ended(): void
  refused(error: AppError): void
  /** Whether connections are to be closed after their answer, because the process is stopping. */
  closing(): boolean
}

export class Exchange {
  private readonly id = new RequestId()
  private readonly res: UwsResponse
  private readonly observer: ExchangeObserver
  private open = true

  constructor(res: UwsResponse, observer: ExchangeObserver) {
    this.res = res
    this.observer = observer
    observer.opened()
    res.onAborted(() => this.end())
  }

  get requestId(): string {
    return this.id.toString()
  }

  /** Whether an answer can still be given. */
  get isOpen(): boolean {
    return this.open
  }

  private end(): void {
    if (!this.open) return
    this.open = false
    this.observer.ended()
  }

  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): void {
    this.res.onData(handler)
  }

  /** Ends the connection without an answer. */
  drop(): void {
    if (this.open) this.res.close() // calls onAborted
  }

  /** Answers. Returns whether the body is done with, so that its memory may be used again; it is when the client is gone. */
  send(answer: Answer): boolean {
    if (!this.open) return true
    this.end()
    const { res } = this
    const { status, contentType } = answer
    const head = contentType === undefined ? jsonHead(status) : headOf(status, contentType)
    this.id.putAtEnd(head)
    let isDone = true
    res.cork(() => {
      res.writeStatus(head)
      if (answer.retryAfterSeconds !== undefined) res.writeHeader('Retry-After', String(answer.retryAfterSeconds))
      if (answer.allow !== undefined) res.writeHeader('Allow', answer.allow)
      if (answer.close === true || this.observer.closing()) res.end(answer.body, true)
      else isDone = this.finish(typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body)
    })
    return isDone
  }

  /**
   * Gives the client as much as it takes and the rest when it takes more. Answers that are not read would otherwise gather
   * without a bound; so only one does, and a client that sends on regardless is disconnected. Whether it took all at once.
   */
  private finish(body: Uint8Array): boolean {
    const { res } = this
    const [, done] = res.tryEnd(body, body.byteLength)
    if (!done) res.onWritable(sent => res.tryEnd(body.subarray(sent), body.byteLength)[1])
    return done
  }

  refuse(error: AppError, close = false): void {
    if (!this.open) return
    this.observer.refused(error)
    const { retryAfterSeconds, allow } = error.details
    this.send({
      status: error.status,
      body: JSON.stringify(error.toBody()),
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      ...(allow === undefined ? {} : { allow }),
      close,
    })
  }
}

// One attempt at fetching a file: what the other side answers, as a stream or as a failure in words. Redirects are not followed:
// a file is at the address it was given with, and an address that another party chooses a moment later would have to be judged anew.
import { judgeUrl, type OutboundPolicy, RefusedAddress } from '../../../../../shared/outbound/judge-url.ts'
import type { OutboundAnswer, OutboundRequest } from '../../../../../shared/outbound/outbound-request.ts'
import { tooLarge } from '../receive-content.ts'

/** An attempt that failed at the other side. `isFinal`: another one would fail too. The message holds nothing of the address. */
export class FailedDownload extends Error {
  readonly isFinal: boolean

  constructor(message: string, isFinal: boolean) {
    super(message)
    this.isFinal = isFinal
  }
}

export type FetchOptions = {
  readonly request: OutboundRequest
  readonly policy: OutboundPolicy
  readonly bytesMax: number
  /** For the whole of the attempt. */
  readonly deadlineMs: number
  /** Ends the attempt from our side; it has not failed then. */
  readonly signal: AbortSignal
}

/** The content at `address`, requested when it is first read. Throws FailedDownload, and what `signal` was aborted with. */
export async function* fetchContent(address: string, options: FetchOptions): AsyncGenerator<Buffer> {
  const deadline = AbortSignal.timeout(options.deadlineMs)
  try {
    // Judged at each attempt: the operator may have changed what is allowed since the file was created.
    const { url } = judgeUrl(address, options.policy)
    const response = await options.request({
      url,
      method: 'GET',
      headers: { accept: 'text/csv, */*;q=0.5', 'accept-encoding': 'identity', 'user-agent': 'Millrace' },
      signal: AbortSignal.any([options.signal, deadline]),
    })
    try {
      requireContent(response, options.bytesMax)
      for await (const bytes of response.body) yield bytes
    } finally {
      response.body.destroy()
    }
  } catch (error) {
    if (error instanceof FailedDownload) throw error
    options.signal.throwIfAborted()
    if (deadline.aborted) {
      throw new FailedDownload(`The download was not through after ${options.deadlineMs / 1_000} seconds.`, false)
    }
    throw explained(error)
  }
}

/** Answers that say "later". */
const AGAIN: ReadonlySet<number> = new Set([408, 425, 429])

function requireContent({ statusCode, headers }: OutboundAnswer, bytesMax: number): void {
  const final = (message: string): never => {
    throw new FailedDownload(message, true)
  }
  if (statusCode >= 300 && statusCode < 400) {
    final(`The server answered ${statusCode}, a redirect, which is not followed; give the address it leads to.`)
  }
  if (statusCode !== 200) {
    const isLater = statusCode >= 500 || AGAIN.has(statusCode)
    const advice = isLater ? '' : '; check that the address is right and needs no sign-in'
    throw new FailedDownload(`The server answered ${statusCode}${advice}.`, !isLater)
  }
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    final('The server sent the content compressed (Content-Encoding); have it send the CSV as it is.')
  }
  const length = headers['content-length']
  // One that simply ends looks the same as one that was cut off.
  if (length === undefined && headers['transfer-encoding'] === undefined) {
    final('The server did not say how long the content is; have it send Content-Length or chunks.')
  }
  if (length !== undefined && Number(length) > bytesMax) final(tooLarge(bytesMax).message)
}

const CUT_OFF = 'The server ended the connection before the content was whole'
const NOT_HTTP = 'What the server sent is not HTTP, or was cut off in the middle'
const UNRESOLVED = 'The name in the address could not be resolved'

/** By the code of the error or, where it has none, its name. */
const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: UNRESOLVED,
  EAI_AGAIN: UNRESOLVED,
  ECONNREFUSED: 'The server refused the connection',
  ECONNRESET: CUT_OFF,
  EPIPE: CUT_OFF,
  OUTBOUND_CONNECT_TIMEOUT: 'The server could not be connected to in time',
  OUTBOUND_HEAD_TIMEOUT: 'The server did not answer in time',
  OUTBOUND_SILENCE_TIMEOUT: 'The server fell silent in the middle of the content',
}

/** What of ours took nothing of the content for too long is no failure of the server's, so it stays as it is. */
function explained(error: unknown): unknown {
  if (error instanceof RefusedAddress) return new FailedDownload(error.message, true)
  const { code, name } = error as { code?: string; name?: string }
  const key = code ?? name ?? 'for no reason given'
  if (key === 'OUTBOUND_UNREAD') return error
  if (key.startsWith('HPE_')) return new FailedDownload(`${NOT_HTTP}.`, false)
  return new FailedDownload(`${REASONS[key] ?? `The connection failed (${key})`}.`, false)
}

// One attempt: sends the request and classifies the outcome. Of the response only its status is kept.
import type { Readable } from 'node:stream'
import { judgeUrl, type OutboundPolicy, RefusedAddress } from '../../../../shared/outbound/judge-url.ts'
import type { OutboundRequest, OutboundTimes } from '../../../../shared/outbound/outbound-request.ts'
import type { WebhookRequest } from './request.ts'

export type PostOutcome = {
  readonly succeeded: boolean
  /** The status of the response; null without a response. */
  readonly responseCode: number | null
  /** Why it failed, in our own words; null on success. */
  readonly cause: string | null
  readonly durationMs: number
}

/** Sends one request. Never throws: every error is an outcome. */
export type Post = (request: WebhookRequest) => Promise<PostOutcome>

/** One limit for name lookup, connection, TLS and response head together (contract: Limits, Webhook answer time). */
const ANSWER_MS = 10_000
/** For the requests that a post makes: no single step may take longer than the whole. */
export const WEBHOOK_TIMES: OutboundTimes = { connectMs: ANSWER_MS, headMs: ANSWER_MS, silenceMs: ANSWER_MS }

/**
 * The response body is dropped. A little of it is read first, so that a receiver is not cut off in the middle of its
 * response.
 */
const REST_BYTES_MAX = 1_024
const REST_MS = 1_000

/** Posts with `request`, which connects only where `policy` allows, follows no redirects and keeps no connection. */
export const createPost =
  (of: { readonly request: OutboundRequest; readonly policy: OutboundPolicy; readonly answerMs?: number }): Post =>
  async ({ url, headers, body }) => {
    const started = performance.now()
    const limitMs = of.answerMs ?? ANSWER_MS
    const ended = (responseCode: number | null, cause: string | null): PostOutcome => ({
      succeeded: cause === null,
      responseCode,
      cause,
      durationMs: Math.round(performance.now() - started),
    })
    const deadline = AbortSignal.timeout(limitMs)
    try {
      const judged = judgeUrl(url, of.policy)
      const answer = await of.request({ url: judged.url, method: 'POST', headers, body, signal: deadline })
      const { statusCode } = answer
      dropRest(answer.body)
      const isSuccess = statusCode >= 200 && statusCode < 300
      return ended(
        statusCode,
        isSuccess
          ? null
          : `The endpoint answered ${statusCode}${REDIRECTS.has(statusCode) ? ', and redirects are not followed' : ''}.`,
      )
    } catch (error) {
      if (deadline.aborted) return ended(null, `The endpoint did not answer within ${limitMs / 1_000} seconds.`)
      return ended(null, causeOf(error))
    }
  }

function dropRest(body: Readable): void {
  let bytes = 0
  const timer = setTimeout(() => body.destroy(), REST_MS)
  body.once('close', () => clearTimeout(timer))
  body.on('data', (piece: Buffer) => {
    bytes += piece.length
    if (bytes > REST_BYTES_MAX) body.destroy()
  })
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

const CAUSES: readonly (readonly [RegExp, string])[] = [
  [/^(ENOTFOUND|EAI_AGAIN|ENODATA)$/, 'The host name of the endpoint does not resolve.'],
  [/^ECONNREFUSED$/, 'The endpoint refused the connection.'],
  [/^(ECONNRESET|EPIPE)$/, 'The endpoint closed the connection before it answered.'],
  [/^(ETIMEDOUT|OUTBOUND_CONNECT_TIMEOUT|OUTBOUND_HEAD_TIMEOUT)$/, 'The endpoint did not answer in time.'],
  [/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, 'The endpoint cannot be reached.'],
  [/CERT|SELF_SIGNED|ALTNAME|ISSUER|LEAF/, 'The certificate of the endpoint is not valid.'],
  [/SSL|TLS|EPROTO/, 'A TLS connection of version 1.2 or newer could not be made with the endpoint.'],
  [/^HPE_/, 'The endpoint did not answer in HTTP.'],
]

/** The cause in our own words: an error may quote what the other side sent. */
function causeOf(error: unknown): string {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof RefusedAddress) return current.message
    const code = 'code' in current && typeof current.code === 'string' ? current.code : current.name
    const known = CAUSES.find(([pattern]) => pattern.test(code))
    if (known) return known[1]
  }
  return 'The request failed.'
}

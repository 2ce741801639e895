// One question to VIES, the service of the European Commission that knows which VAT ids exist.
import type { Readable } from 'node:stream'
import { judgeUrl, type OutboundPolicy } from '../../../../shared/outbound/judge-url.ts'
import type { OutboundRequest } from '../../../../shared/outbound/outbound-request.ts'
import type { ViesNumber } from './vies-number.ts'

export type Vies = {
  /** The address of its REST service, without a slash at the end. */
  readonly url: string
  readonly request: OutboundRequest
  readonly policy: OutboundPolicy
  /** For the whole of one question. */
  readonly deadlineMs: number
}

/** `FAILED`: it could not say; another try may help. */
export type ViesAnswer = { readonly kind: 'VALID' | 'NOT_VALID' } | { readonly kind: 'FAILED'; readonly reason: string }

const ANSWER_BYTES_MAX = 64 * 1024
const failed = (reason: string): ViesAnswer => ({ kind: 'FAILED', reason })

/** Asks once. Never throws, but for what `signal` was aborted with, and never takes longer than the deadline. */
export async function queryVies(
  vies: Vies,
  { memberState, number }: ViesNumber,
  signal: AbortSignal,
): Promise<ViesAnswer> {
  const deadline = AbortSignal.timeout(vies.deadlineMs)
  try {
    const { url } = judgeUrl(`${vies.url}/ms/${memberState}/vat/${encodeURIComponent(number)}`, vies.policy)
    const { statusCode, body } = await vies.request({
      url,
      method: 'GET',
      headers: { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'Millrace' },
      signal: AbortSignal.any([signal, deadline]),
    })
    try {
      return answerOf(await textOf(body), statusCode)
    } finally {
      body.destroy()
    }
  } catch (error) {
    signal.throwIfAborted()
    if (deadline.aborted) return failed('no answer in time')
    const { code, message } = error as { code?: unknown; message?: unknown }
    return failed(typeof code === 'string' ? code : String(message))
  }
}

async function textOf(body: Readable): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of body) {
    const buffer = Buffer.from(piece)
    bytes += buffer.length
    if (bytes > ANSWER_BYTES_MAX) throw new Error('the answer is too long')
    pieces.push(buffer)
  }
  return Buffer.concat(pieces).toString('utf8')
}

type Body = {
  readonly isValid?: unknown
  readonly userError?: unknown
  readonly errorWrappers?: readonly { readonly error?: unknown }[]
}

/** What an answer says; its text is a stranger's, so anything else than the two answers is a failure. Pure. */
export function answerOf(text: string, statusCode: number): ViesAnswer {
  let body: Body | null
  try {
    body = JSON.parse(text) as Body | null
  } catch {
    return failed(`an answer that is no JSON, with status ${statusCode}`)
  }
  const said = body?.userError ?? (Array.isArray(body?.errorWrappers) ? body.errorWrappers[0]?.error : undefined)
  const word = typeof said === 'string' && /^[A-Z_]{1,64}$/.test(said) ? said : null
  if (word === 'INVALID_INPUT') return { kind: 'NOT_VALID' }
  if (statusCode === 200 && body?.isValid === true) return { kind: 'VALID' }
  if (statusCode === 200 && body?.isValid === false && (word === 'INVALID' || said === undefined))
    return { kind: 'NOT_VALID' }
  return failed(word ?? `status ${statusCode}`)
}

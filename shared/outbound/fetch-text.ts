// One attempt at reading a small text from an address that a user gives. Redirects are not followed.
import { judgeUrl, type OutboundPolicy, RefusedAddress } from './judge-url.ts'
import type { OutboundRequest } from './outbound-request.ts'

/** Why the text could not be read, in words for the user, without anything that the other side sent. */
export class FailedFetch extends Error {}

export type FetchTextDeps = {
  /** Connects to what `policy` allows and to nothing else. */
  readonly request: OutboundRequest
  readonly policy: OutboundPolicy
  readonly bytesMax: number
  /** For the whole of the attempt. */
  readonly deadlineMs: number
}

/** The text at `address` as UTF-8. Throws FailedFetch, and what `signal` was aborted with. */
export async function fetchText(
  { request, policy, bytesMax, deadlineMs }: FetchTextDeps,
  address: string,
  of: { readonly accept: string; readonly signal: AbortSignal },
): Promise<string> {
  const deadline = AbortSignal.timeout(deadlineMs)
  try {
    const { url } = judgeUrl(address, policy)
    const headers = { accept: of.accept, 'accept-encoding': 'identity', 'user-agent': 'Millrace' }
    const signal = AbortSignal.any([of.signal, deadline])
    const { statusCode, body } = await request({ url, method: 'GET', headers, signal })
    try {
      if (statusCode !== 200) throw new FailedFetch(`The server answered ${statusCode}.`)
      const parts: Buffer[] = []
      let bytes = 0
      for await (const part of body) {
        parts.push(part)
        bytes += part.length
        if (bytes > bytesMax) throw new FailedFetch(`The answer has more than ${bytesMax} bytes.`)
      }
      return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts))
    } finally {
      body.destroy()
    }
  } catch (error) {
    if (error instanceof FailedFetch) throw error
    of.signal.throwIfAborted()
    if (deadline.aborted) throw new FailedFetch(`The server did not answer within ${deadlineMs / 1_000} seconds.`)
    throw explained(error)
  }
}

/** In our own words: an error may quote what the other side sent. */
function explained(error: unknown): FailedFetch {
  if (error instanceof RefusedAddress) return new FailedFetch(error.message)
  if (error instanceof TypeError) return new FailedFetch('The answer is not text in UTF-8.')
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'ERROR'
  return new FailedFetch(`The server could not be reached (${code}).`)
}

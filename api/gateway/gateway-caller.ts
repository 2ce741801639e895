// Calls of the api to the gateway: bounded in number, in memory and in time, so that a gateway that is slow or away costs a
// caller a refusal it can act on, and other callers nothing.
import type { Dispatcher } from 'undici'
import { AppError } from '../../shared/errors.ts'

/** What the gateway answered. */
export type GatewayAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

export type GatewayCall = {
  /** One of the gateway's own paths, never a caller's text. */
  readonly path: string
  readonly headers: string[]
  readonly body: Buffer | null
  /** Ends the call: its caller is gone. */
  readonly signal: AbortSignal
}

/** Sends a call to the gateway. Throws SERVICE_UNAVAILABLE with Retry-After when it does not answer, or too many wait for it. */
export type CallGateway = (call: GatewayCall) => Promise<GatewayAnswer>

export type CallBounds = {
  /** Calls that wait for the gateway at once, and the bytes of their bodies. */
  readonly callsMax: number
  readonly bytesMax: number
  /** From the call to the last byte of its answer, waiting for a connection included. */
  readonly answerMs: number
}

const BOUNDS: CallBounds = { callsMax: 1_000, bytesMax: 64 * 1024 * 1024, answerMs: 4_500 }
const RETRY_AFTER_SECONDS = 1

/** A caller of the gateway behind `dispatcher`, within `bounds`. */
export function createGatewayCaller(dispatcher: Dispatcher, bounds: CallBounds = BOUNDS): CallGateway {
  let calls = 0
  let bytes = 0
  return async call => {
    const size = call.body?.length ?? 0
    if (calls >= bounds.callsMax || bytes + size > bounds.bytesMax)
      throw unavailable('Too many calls wait for the gateway; send the events again.')
    calls += 1
    bytes += size
    try {
      return await send(dispatcher, call, bounds.answerMs)
    } catch (cause) {
      throw unavailable('The gateway does not answer; send the events again.', cause)
    } finally {
      calls -= 1
      bytes -= size
    }
  }
}

async function send(dispatcher: Dispatcher, call: GatewayCall, answerMs: number): Promise<GatewayAnswer> {
  // A timer of undici starts when the request is on its connection; this one runs while it waits for one, too.
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(answerMs)])
  const { path, headers, body: sent } = call
  const {
    statusCode,
    headers: answered,
    body,
  } = await dispatcher.request({
    method: 'POST',
    path,
    headers,
    body: sent,
    signal,
  })
  return { status: statusCode, headers: answered, body: Buffer.from(await body.arrayBuffer()) }
}

const unavailable = (message: string, cause?: unknown): AppError =>
  new AppError('SERVICE_UNAVAILABLE', message, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause })

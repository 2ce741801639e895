// Requests to addresses that users give. A name is resolved once, every address it has is judged, and the connection is made to
// these very addresses: a name that leads elsewhere a moment later (DNS rebinding) gains nothing. Nothing is followed, no
// connection is kept, no proxy is used, so every request is judged anew. The server is a stranger's: whatever it sends, and
// however it ends, is at most an error of its own request. That is why the HTTP client is the one of Node.js: in undici 7 an
// answer that ends while its reader is slow throws outside of any request, which ends the process (nodejs/undici, issue 5360).
import { lookup as lookupName } from 'node:dns/promises'
import { type IncomingHttpHeaders, type IncomingMessage, request as sendRequest } from 'node:http'
import { isIP, type LookupFunction, connect as openConnection, type Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { connect as openTls } from 'node:tls'
import { isWithinReach, judgeUrl, NOT_PUBLIC, type OutboundPolicy, RefusedAddress } from './judge-url.ts'

type Address = { readonly address: string; readonly family: number }
export type Resolve = (hostname: string) => Promise<readonly Address[]>

export type OutboundTimes = {
  /** To a connection, with the resolution of the name and TLS. */
  readonly connectMs: number
  /** To the head of the answer, once there is a connection. */
  readonly headMs: number
  /** Between two pieces of the answer. A body that is not read for as long is given up, too. */
  readonly silenceMs: number
}

export type OutboundCall = {
  readonly url: URL
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Ends the request wherever it is, the reading of its body included; what it was aborted with is thrown. */
  readonly signal: AbortSignal
}

export type OutboundAnswer = {
  readonly statusCode: number
  readonly headers: IncomingHttpHeaders
  /** To be read or destroyed. An error of it is thrown to its reader; where nobody reads, it is dropped. */
  readonly body: Readable
}

/**
 * Sends a request and gives the head of its answer. Throws RefusedAddress before any connection, and otherwise errors with the
 * `code` of Node.js (`ENOTFOUND`, `ECONNRESET`, `HPE_...` for what is not HTTP), or `OUTBOUND_CONNECT_TIMEOUT`,
 * `OUTBOUND_HEAD_TIMEOUT`, `OUTBOUND_SILENCE_TIMEOUT` and `OUTBOUND_UNREAD`, the last when the reader was too slow.
 */
export type OutboundRequest = (call: OutboundCall) => Promise<OutboundAnswer>

/** In place of the system's own names and trusted certificates. */
export type OutboundSubstitutes = { readonly resolve?: Resolve; readonly ca?: string }

const resolveAll: Resolve = hostname => lookupName(hostname, { all: true })

/** Of the answer's head, its trailers, and each of the heads before it. */
const HEAD_BYTES_MAX = 16 * 1024

/** Requests that connect to nothing `policy` does not allow, each over a connection of its own, within `times`. */
export function createOutboundRequest(
  policy: OutboundPolicy,
  times: OutboundTimes,
  { resolve = resolveAll, ca }: OutboundSubstitutes = {},
): OutboundRequest {
  return async call => {
    const { url, signal } = call
    // A host that is an address is never looked up, so it is judged here, again.
    const { reach } = judgeUrl(url.origin, policy)
    signal.throwIfAborted()
    const lookup = lookupOf(resolve, address => isWithinReach(reach, address, policy))
    const connection = connect(url, { lookup, ...(ca === undefined ? {} : { ca }) })
    const onAbort = (): void => connection.end(signal.reason)
    signal.addEventListener('abort', onAbort)
    connection.socket.once('close', () => signal.removeEventListener('abort', onAbort))
    try {
      await within(times.connectMs, 'OUTBOUND_CONNECT_TIMEOUT', connection, connection.opened)
      const answer = await within(times.headMs, 'OUTBOUND_HEAD_TIMEOUT', connection, send(call, connection))
      endInSilence(connection, answer, times.silenceMs)
      return { statusCode: answer.statusCode ?? 0, headers: answer.headers, body: answer }
    } catch (error) {
      connection.socket.destroy()
      throw error
    }
  }
}

type Connection = {
  readonly socket: Socket
  /** Fulfilled when requests can be sent. */
  readonly opened: Promise<void>
  /** Ends it from our side: what waits for it throws `error`. */
  end(error: unknown): void
  /** What is read from it, when there is something. */
  answer: IncomingMessage | null
}

const failure = (code: string, message: string): Error => Object.assign(new Error(message), { code })
const errorOf = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)))
const closed = (): Error => failure('ECONNRESET', 'the connection was closed')

function connect(url: URL, options: { readonly lookup: LookupFunction; readonly ca?: string }): Connection {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const isTls = url.protocol === 'https:'
  const to = { host, port: Number(url.port || (isTls ? 443 : 80)), ...options }
  // An address has no server name (RFC 6066, 3); the certificate is then checked against the address.
  const name = isIP(host) === 0 ? { servername: host.replace(/\.$/, '') } : {}
  const socket = isTls
    ? openTls({ ...to, ...name, minVersion: 'TLSv1.2', ALPNProtocols: ['http/1.1'] })
    : openConnection(to)
  // Never without a listener: an error nobody waits for any more must not end the process.
  socket.on('error', () => undefined)
  const opened = new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.once('close', () => reject(closed()))
    socket.once(isTls ? 'secureConnect' : 'connect', resolve)
  })
  const connection: Connection = {
    socket,
    opened,
    answer: null,
    end: reason => {
      const error = errorOf(reason)
      connection.answer?.destroy(error)
      socket.destroy(error)
    },
  }
  return connection
}

/** `step`, unless it takes longer: then the connection is ended, which makes it throw. */
async function within<T>(ms: number, code: string, connection: Connection, step: Promise<T>): Promise<T> {
  const timer = setTimeout(() => connection.end(failure(code, `not within ${ms} ms`)), ms)
  try {
    return await step
  } finally {
    clearTimeout(timer)
  }
}

/** The answer once its head is there. */
const send = ({ url, method, headers, body }: OutboundCall, connection: Connection): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const request = sendRequest({
      method,
      path: `${url.pathname}${url.search}`,
      headers: { ...headers, host: url.host },
      // Without an agent: nothing is pooled, and no proxy of the environment comes between. It sends `Connection: close`.
      createConnection: () => connection.socket,
      maxHeaderSize: HEAD_BYTES_MAX,
      insecureHTTPParser: false,
    })
    request.once('response', answer => {
      connection.answer = answer
      answer.on('error', () => undefined)
      answer.once('close', () => connection.socket.destroy())
      resolve(answer)
    })
    // The listener stays: after the head an error is one of the body, and no error of one that has come whole.
    request.on('error', error => {
      reject(error)
      if (!connection.answer?.complete) connection.answer?.destroy(error)
    })
    // For an end without an error, such as an answer that changes the protocol.
    request.once('close', () => reject(closed()))
    request.end(body)
  })

function endInSilence({ socket, end }: Connection, answer: IncomingMessage, silenceMs: number): void {
  socket.setTimeout(silenceMs, () => {
    const isUnread = answer.readableLength > 0
    const code = isUnread ? 'OUTBOUND_UNREAD' : 'OUTBOUND_SILENCE_TIMEOUT'
    end(failure(code, `${isUnread ? 'nothing was read' : 'nothing came'} for ${silenceMs} ms`))
  })
}

const lookupOf =
  (resolve: Resolve, isAllowed: (address: string) => boolean): LookupFunction =>
  (hostname, options, callback) => {
    const judged = resolve(hostname).then(addresses => {
      const [first] = addresses
      // One that is not public spoils the others: which of them is connected to is not ours to say.
      if (first === undefined || !addresses.every(({ address }) => isAllowed(address))) {
        throw new RefusedAddress(`The address ${NOT_PUBLIC}.`)
      }
      return { first, addresses }
    })
    judged.then(
      ({ first, addresses }) => {
        if (options.all) callback(null, [...addresses])
        else callback(null, first.address, first.family)
      },
      (error: Error) => callback(error, ''),
    )
  }

// What Node's HTTP server would answer by itself, or with silence: here in the one shape of every refusal.
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../errors.ts'
import { newId } from '../ids.ts'
import { atOnce } from './at-once.ts'

const BROKEN: Readonly<Record<string, { readonly status: string; readonly message: string }>> = {
  HPE_HEADER_OVERFLOW: { status: '431 Request Header Fields Too Large', message: 'The headers are larger than 16 KB.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', message: 'The request did not arrive in time.' },
}
const UNREADABLE = { status: '400 Bad Request', message: 'This is not an HTTP/1.1 request that can be read.' }
const TUNNEL = { status: '405 Method Not Allowed', message: 'This server is not a proxy; CONNECT is not supported.' }

/** Fastify's `clientErrorHandler`: the answer to what is no readable request. */
export function answerBrokenConnection(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  endWith(socket, BROKEN[error.code ?? ''] ?? UNREADABLE)
}

/** With this the check of the header Host is left to `refuseOddRequests`. */
export const OWN_HOST_CHECK = { requireHostHeader: false } as const

/** Refuses a CONNECT, an `Expect` that is not understood, and an HTTP/1.1 request without a Host. */
export function refuseOddRequests(app: FastifyInstance): void {
  app.server.on('connect', (_request, socket: Socket) => endWith(socket, TUNNEL))
  app.server.on('checkExpectation', (_request, response: ServerResponse) => {
    const body = bodyOf('The only Expect that is supported is 100-continue.')
    // The body that it announces is not read.
    response.writeHead(417, Object.fromEntries(headersOf(body))).end(body)
  })
  const refuseHostless = ({ raw }: FastifyRequest): void => {
    if (raw.httpVersion === '1.1' && raw.headers.host === undefined)
      throw new AppError('BAD_REQUEST', 'Send a Host header, as HTTP/1.1 requires.')
  }
  app.addHook('onRequest', atOnce(refuseHostless))
}

const bodyOf = (message: string): string => JSON.stringify(new AppError('BAD_REQUEST', message).toBody())

const headersOf = (body: string): [string, string][] => [
  ['content-type', 'application/json'],
  ['content-length', String(Buffer.byteLength(body))],
  ['x-request-id', newId('reqr')],
  ['x-content-type-options', 'nosniff'],
  ['cache-control', 'no-store'],
  ['connection', 'close'],
]

/** Writes a refusal to a connection that has no response, and closes it. */
function endWith(socket: Socket, { status, message }: typeof UNREADABLE): void {
  const body = bodyOf(message)
  const head = headersOf(body).map(([name, value]) => `${name}: ${value}`)
  // A caller who is gone already: Node takes its own listener from the socket of a CONNECT, and an error without one ends the process.
  socket.on('error', () => socket.destroy())
  if (socket.writable) socket.write(`HTTP/1.1 ${status}\r\n${head.join('\r\n')}\r\n\r\n${body}`)
  socket.destroySoon()
}

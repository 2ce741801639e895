// What Node's server would answer by itself: in the one shape, at both hosts that it serves.
import { connect, Socket } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AppError } from '../../shared/errors.ts'
import { answerBrokenConnection, OWN_HOST_CHECK, refuseOddRequests } from '../../shared/http/odd-requests.ts'
import { silentLogger } from '../../shared/process/logger.ts'
import { createServer } from './create-server.ts'

/** All that comes back until the server closes the connection, which it does after each of these. */
const raw = (app: FastifyInstance, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const address = app.server.address()
    if (address === null || typeof address === 'string') throw new Error('it does not listen')
    const socket = connect(address.port, '127.0.0.1', () => socket.write(text))
    let answer = ''
    socket.setEncoding('utf8').on('data', data => {
      answer += data
    })
    socket.on('close', () => resolve(answer)).on('error', reject)
  })

/** A server with what the identity host takes of this. */
const plainServer = (): FastifyInstance => {
  const app = Fastify({ http: OWN_HOST_CHECK, clientErrorHandler: answerBrokenConnection })
  app.setErrorHandler<AppError>((error, _request, reply) => reply.status(error.status).send(error.toBody()))
  refuseOddRequests(app)
  return app
}

describe.each([
  ['the api', () => createServer(silentLogger)],
  ['the identity host', async () => plainServer()],
] as const)('%s', (_, make) => {
  let app: FastifyInstance
  beforeAll(async () => {
    app = await make()
    await app.listen({ port: 0, host: '127.0.0.1' })
  })
  afterAll(() => app.close())

  test.each([
    ['bytes that are no request', 400, 'nonsense\r\n\r\n'],
    ['a version that does not exist', 400, 'GET / HTTP/1.2\r\nhost: x\r\n\r\n'],
    ['a space before the colon', 400, 'GET / HTTP/1.1\r\nhost : x\r\n\r\n'],
    ['a carriage return in a header', 400, 'GET / HTTP/1.1\r\nhost: x\r\nx-a: a\rb\r\n\r\n'],
    ['headers beyond 16 KB', 431, `GET / HTTP/1.1\r\nhost: x\r\nx-a: ${'a'.repeat(20_000)}\r\n\r\n`],
    ['an Expect that is not understood', 417, 'POST / HTTP/1.1\r\nhost: x\r\nexpect: y\r\ncontent-length: 2\r\n\r\n{}'],
    ['CONNECT', 405, 'CONNECT x:1 HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['no Host', 400, 'GET / HTTP/1.1\r\nconnection: close\r\n\r\n'],
  ])('%s is %i', async (_what, status, text) => {
    const [head = '', body = ''] = (await raw(app, text)).split('\r\n\r\n')
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(JSON.parse(body)).toMatchObject({ type: 'INVALID_REQUEST', code: 'BAD_REQUEST' })
  })

  test('a CONNECT whose caller is gone before the answer ends no process', () => {
    const socket = new Socket()
    app.server.emit('connect', {}, socket)
    expect(() => socket.emit('error', new Error('ECONNRESET'))).not.toThrow()
  })
})

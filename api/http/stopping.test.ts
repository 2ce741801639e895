// A server that stops, over a real connection: what it has begun it answers, and what comes after is refused in the one shape.
import { EventEmitter, once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { silentLogger } from '../../shared/process/logger.ts'
import { createServer } from './create-server.ts'

/** A server with a request in progress, and its connection. */
async function startBusy() {
  const app = await createServer(silentLogger)
  const slow = new EventEmitter()
  const begun = once(slow, 'begun')
  const config = { permission: 'public' } as const
  app.get('/slow', { config }, async () => {
    slow.emit('begun')
    await once(slow, 'finish')
    return { done: true }
  })
  let reached = 0
  app.post('/next', { config }, async () => {
    reached += 1
    return {}
  })
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  const socket = connect(Number(port), '127.0.0.1')
  let text = ''
  socket.setEncoding('utf8').on('data', data => {
    text += data
  })
  const send = (line: string, headers = '') =>
    socket.write(`${line} HTTP/1.1\r\nhost: x\r\n${headers}content-length: 0\r\n\r\n`)
  send('GET /slow')
  await begun
  return { app, socket, send, finish: () => slow.emit('finish'), answers: () => text, reached: () => reached }
}

test.each(['POST /next', 'GET /nowhere'])('what is in progress is answered, and %s after it is refused', async line => {
  const busy = await startBusy()
  const closed = busy.app.close()
  // The hooks of the server's end have run when it takes no new connection.
  while (busy.app.server.listening) await new Promise(resolve => setImmediate(resolve))
  const arrived = once(busy.app.server, 'request')
  busy.send(line, 'idempotency-key: k\r\n')
  await arrived
  busy.finish()
  await once(busy.socket, 'close')
  await closed
  const [first = '', second = '', ...more] = busy.answers().split(/(?=HTTP\/1\.1 )/)
  expect(more).toEqual([])
  expect(first).toMatch(/^HTTP\/1\.1 200 /)
  const [head = '', body = ''] = second.split('\r\n\r\n')
  expect(head).toMatch(/^HTTP\/1\.1 503 /)
  expect(head.toLowerCase().split('\r\n')).toEqual(
    expect.arrayContaining([
      'connection: close',
      'content-type: application/json',
      'retry-after: 1',
      'idempotency-retryable: true',
      'cache-control: no-store',
      expect.stringMatching(/^x-request-id: reqr_/),
    ]),
  )
  expect(JSON.parse(body)).toEqual({
    type: 'API_ERROR',
    code: 'SERVICE_UNAVAILABLE',
    message: 'This process is stopping; send it again on a new connection.',
  })
  expect(busy.reached()).toBe(0)
})

test('a connection that its client keeps open is closed after the answer, and does not hold up the stop', async () => {
  const busy = await startBusy()
  const closed = busy.app.close()
  while (busy.app.server.listening) await new Promise(resolve => setImmediate(resolve))
  busy.finish()
  // Left to itself the server waits more than a minute for a next request.
  await once(busy.socket, 'close')
  await closed
  expect(busy.answers()).toMatch(/^HTTP\/1\.1 200 /)
})

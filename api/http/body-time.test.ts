// A body that comes too slowly, over a real connection: its call is answered before the connection is closed.
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { silentLogger } from '../../shared/process/logger.ts'
import { createServer } from './create-server.ts'

const LENGTH = 'content-length: 100\r\n\r\n{"a'
const CHUNKED = 'transfer-encoding: chunked\r\n\r\n3\r\n{"a'

/** `silentMs`: after which the server closes a connection on which nothing moves. */
async function startServer(silentMs = 10_000) {
  const app = await createServer(silentLogger, { bodyMs: 300 })
  app.server.timeout = silentMs
  let reached = 0
  app.post('/', { config: { permission: 'public' } }, async () => {
    reached += 1
    return {}
  })
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
  return { app, port: Number(port), reached: () => reached }
}

test.each([
  ['that stops', LENGTH, 0, 10_000],
  ['that stops as late as the server waits for anything', LENGTH, 0, 100],
  ['in chunks that stops', CHUNKED, 0, 10_000],
  ['that drips', LENGTH, 30, 10_000],
])('a body %s is refused with what to do, and its connection closed', async (_, rest, everyMs, silentMs) => {
  const { app, port, reached } = await startServer(silentMs)
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.setEncoding('utf8').on('data', data => {
    text += data
  })
  socket.on('error', () => undefined)
  const closed = once(socket, 'close')
  socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${rest}`)
  const drip = everyMs === 0 ? undefined : setInterval(() => socket.writable && socket.write(' '), everyMs)
  await closed
  clearInterval(drip)
  const [head = '', body = ''] = text.split('\r\n\r\n')
  expect(head).toMatch(/^HTTP\/1\.1 408 /)
  expect(head.toLowerCase().split('\r\n')).toEqual(
    expect.arrayContaining([
      'connection: close',
      'content-type: application/json',
      expect.stringMatching(/^x-request-id: reqr_/),
    ]),
  )
  expect(JSON.parse(body)).toEqual({
    type: 'INVALID_REQUEST',
    code: 'BAD_REQUEST',
    message:
      'The body was not complete within 0.3 seconds, and nothing was done. Send it again on a new connection, or less at once.',
  })
  expect(reached()).toBe(0)
  await app.close()
})

test('a body that comes slowly, and is complete in time, is read', async () => {
  const { app, port, reached } = await startServer()
  const socket = connect(port, '127.0.0.1')
  socket.write(
    'POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{',
  )
  await sleep(50)
  socket.write('}')
  const [data] = await once(socket, 'data')
  expect(String(data)).toMatch(/^HTTP\/1\.1 200 /)
  expect(reached()).toBe(1)
  socket.destroy()
  await app.close()
})

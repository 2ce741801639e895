// Answers over a real socket: a client that reads slowly gets all of a large one.
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { silentLogger } from '../../shared/process/logger.ts'
import { loadUws } from './load-uws.ts'
import { type Server, startServer } from './server.ts'

const LARGE = 'abcdefghij'.repeat(3_000_000)
let server: Server
beforeAll(async () => {
  server = await startServer({
    uws: loadUws().uws,
    host: '127.0.0.1',
    port: 0,
    connectionsMax: 100,
    logger: silentLogger,
    onRefused: () => undefined,
    routes: { get: { '/large': exchange => void exchange.send({ status: 200, body: LARGE }) }, post: {} },
  })
})
afterAll(() => server.stop())

test('an answer larger than what the network takes at once arrives whole, however slowly it is read', async () => {
  const socket = connect({ host: '127.0.0.1', port: server.port })
  socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n')
  let bytes = 0
  let text = ''
  socket.on('data', data => {
    if (bytes === 0) text = data.toString('latin1')
    bytes += data.length
    socket.pause()
    setTimeout(() => socket.resume(), 1)
  })
  await expect.poll(() => text).toContain('\r\n\r\n')
  const headBytes = text.indexOf('\r\n\r\n') + 4
  while (bytes < headBytes + LARGE.length) await sleep(10)
  expect(text).toContain(`Content-Length: ${LARGE.length}`)
  expect(bytes).toBe(headBytes + LARGE.length)
  socket.destroy()
})

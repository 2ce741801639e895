import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createClient } from './client.ts'

let server: Server
async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

test('a call that is answered 503, or not at all, is sent again as the same call', async () => {
  const keys: unknown[] = []
  const url = await serve((request, response) => {
    keys.push(request.headers['idempotency-key'])
    if (keys.length === 1) response.writeHead(503, { 'retry-after': '1' }).end()
    else if (keys.length === 2) request.socket.destroy()
    else response.writeHead(201, { 'content-type': 'application/json' }).end('{"id":"a"}')
  })
  expect(await createClient(url, 'key').post('/v1/products', {})).toEqual({ id: 'a' })
  expect(keys).toHaveLength(3)
  expect(new Set(keys).size).toBe(1)
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/)
})

test('a refusal is not sent again', async () => {
  let calls = 0
  const url = await serve((_request, response) => {
    calls += 1
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"code":"INVALID_FIELD"}')
  })
  await expect(createClient(url, 'key').post('/v1/products', {})).rejects.toThrow(
    'answers 400: {"code":"INVALID_FIELD"}',
  )
  expect(calls).toBe(1)
})

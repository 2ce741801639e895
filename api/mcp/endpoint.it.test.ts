// {base_url}/mcp as an address: who may come in, from where, and what it takes (security 1.2, item 32; MCP: streamable HTTP).
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ACCEPT, type AgentRig, startAgentRig } from './testing/agent-rig.ts'

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
let rig: AgentRig
beforeAll(async () => {
  rig = await startAgentRig({ mcpOrigins: ['http://localhost:6274'] })
})
afterAll(() => rig?.close())

const bearer = async () => ({ authorization: `Bearer ${await (await rig.newUser()).token()}` })

test('answers a message without any session', async () => {
  const answer = await rig.post(PING, await bearer())
  expect([answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')]).toEqual([
    200,
    'application/json',
    'no-store',
  ])
  expect(answer.headers.get('mcp-session-id')).toBe(null)
  expect(await answer.json()).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
  const notified = await rig.post('{"jsonrpc":"2.0","method":"notifications/initialized"}', await bearer())
  expect([notified.status, await notified.text()]).toEqual([202, ''])
})

test('without a token, with a wrong one or with an API key it says how to get one', async () => {
  for (const method of ['POST', 'GET', 'DELETE']) {
    const init = { method, ...(method === 'POST' ? { body: PING } : {}) }
    const answer = await fetch(rig.mcpUrl, {
      ...init,
      headers: { 'content-type': 'application/json', accept: ACCEPT },
    })
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toBe(
      'Bearer resource_metadata="http://api.example/.well-known/oauth-protected-resource", scope="service:read"',
    )
  }
  const key = await rig.post(PING, { 'x-api-key': rig.api.tenants.aLive.key })
  expect([key.status, (await key.json()).message]).toEqual([401, 'Only bearer tokens are taken here.'])
  const wrong = await rig.post(PING, { authorization: 'Bearer x.y.z' })
  expect(wrong.headers.get('www-authenticate')).toContain('error="invalid_token"')
  const over = await rig.post(PING, { authorization: `Bearer ${await (await rig.newUser()).token({ seconds: -10 })}` })
  expect(over.status).toBe(401)
})

test.each([
  ['2025-06-18', true],
  ['2025-03-26', false],
])('a client of %s gets one copy of an answer', async (version, isStructured) => {
  const message = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_groups","arguments":{}}}'
  const answer = await rig.post(message, { 'mcp-protocol-version': version, ...(await bearer()) })
  const { result } = await answer.json()
  const copies = [JSON.stringify(result.structuredContent ?? ''), result.content[0].text]
  expect(copies.map(copy => copy.includes('customers_archive'))).toEqual([isStructured, !isStructured])
})

test('has no stream to listen to and no session to end', async () => {
  for (const method of ['GET', 'DELETE']) {
    const answer = await fetch(rig.mcpUrl, { method, headers: { accept: 'text/event-stream', ...(await bearer()) } })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
  }
})

test.each([
  ['http://evil.example', 403],
  ['null', 403],
  ['http://api.example.evil.example', 403],
  ['http://api.example', 200],
])('a page of %s is answered %i', async (origin, status) => {
  expect((await rig.post(PING, { origin, ...(await bearer()) })).status).toBe(status)
})

test.each<[string, string, Record<string, string>, number]>([
  ['a client that takes only JSON', PING, { accept: 'application/json' }, 406],
  ['a form', PING, { 'content-type': 'text/plain' }, 415],
  ['several messages at once', `[${PING},${PING}]`, {}, 400],
  ['no message', '{}', {}, 400],
  ['no JSON', '{', {}, 400],
  ['a poisoned message', '{"__proto__":{"a":1},"jsonrpc":"2.0","id":1,"method":"ping"}', {}, 400],
  ['a version of the protocol nobody knows', PING, { 'mcp-protocol-version': '1999-01-01' }, 400],
  ['a body that is too large', `{"a":"${'x'.repeat(1_048_576)}"}`, {}, 413],
])('%s is refused', async (_name, body, headers, status) => {
  expect((await rig.post(body, { ...(await bearer()), ...headers })).status).toBe(status)
})

test('a page of an origin from the setting is let in, with what its browser asks for', async () => {
  const origin = 'http://localhost:6274'
  const preflight = (from: string) =>
    fetch(rig.mcpUrl, { method: 'OPTIONS', headers: { origin: from, 'access-control-request-method': 'POST' } })
  const allowed = await preflight(origin)
  expect(allowed.status).toBe(204)
  expect(allowed.headers.get('access-control-allow-origin')).toBe(origin)
  expect(allowed.headers.get('access-control-allow-headers')).toContain('authorization')
  expect((await preflight('https://elsewhere.example')).status).toBe(403)
  const posted = await rig.post(PING, { origin, ...(await bearer()) })
  expect([posted.status, posted.headers.get('access-control-allow-origin')]).toEqual([200, origin])
  // A page must be able to read why it was refused, to get a token, and when to try again.
  const refused = await rig.post(PING, { origin })
  expect([refused.status, refused.headers.get('access-control-expose-headers')]).toEqual([
    401,
    expect.stringMatching(/www-authenticate.*retry-after/),
  ])
})

// The guard against a server that is really there: what is refused never reaches it.
import { createServer, type Server } from 'node:http'
import { type AddressInfo, BlockList } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type OutboundPolicy, RefusedAddress } from './judge-url.ts'
import { createOutboundRequest, type Resolve } from './outbound-request.ts'

let server: Server
let port: number
let connections = 0
const hostsAsked: (string | undefined)[] = []
beforeAll(async () => {
  server = createServer((request, response) => {
    hostsAsked.push(request.headers.host)
    response.end('reached')
  })
  server.on('connection', () => {
    connections += 1
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => {
  server?.close()
})
beforeEach(() => {
  connections = 0
  hostsAsked.length = 0
})

const TIMES = { connectMs: 5_000, headMs: 5_000, silenceMs: 5_000 }
const onPort = (hosts: string[] = []): OutboundPolicy => ({
  ports: { 'https:': [port], 'http:': [port] },
  hosts: new Set(hosts),
})
const call = (origin: string) =>
  ({ url: new URL(origin), method: 'GET', headers: {}, signal: new AbortController().signal }) as const
async function ask(origin: string, policy: OutboundPolicy, resolve?: Resolve): Promise<string> {
  const request = createOutboundRequest(policy, TIMES, resolve ? { resolve } : {})
  return await text((await request(call(origin))).body)
}
const at = (...addresses: string[]) => addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 }))

test.each([
  ['loopback', at('127.0.0.1')],
  ['loopback after a public address', at('93.184.215.14', '127.0.0.1')],
  ['loopback mapped to IPv6', at('::ffff:127.0.0.1')],
  ['the metadata service', at('169.254.169.254')],
  ['a private network', at('10.1.2.3')],
  ['nothing', []],
])('a name that leads to %s is refused, and no connection is made', async (_name, addresses) => {
  for (const protocol of ['http', 'https']) {
    await expect(ask(`${protocol}://files.test:${port}`, onPort(), async () => addresses)).rejects.toThrow(
      RefusedAddress,
    )
  }
  expect(connections).toBe(0)
})

test('a name of the system that leads here is refused by what the system says of it', async () => {
  // It stands for any name: the text alone does not tell, so the guard is asked without its rule for this one.
  const { lookup } = await import('node:dns/promises')
  const resolve: Resolve = () => lookup('localhost', { all: true })
  await expect(ask(`http://files.test:${port}`, onPort(), resolve)).rejects.toThrow(RefusedAddress)
  expect(connections).toBe(0)
})

test.each(['127.0.0.1', '[::ffff:127.0.0.1]', 'localhost', '0.0.0.0'])(
  'an address that is never looked up, %s, is refused by the request itself',
  async host => {
    let asked = 0
    const resolve: Resolve = async () => {
      asked += 1
      return at('127.0.0.1')
    }
    await expect(ask(`http://${host}:${port}`, onPort(), resolve)).rejects.toThrow(RefusedAddress)
    expect([connections, asked]).toEqual([0, 0])
  },
)

test('a name is resolved once a request, and the connection goes where it was judged to go', async () => {
  const answers = [at('127.0.0.1'), at('127.0.0.2')]
  let asked = 0
  const rebinding: Resolve = async () => {
    asked += 1
    return answers[asked - 1] ?? []
  }
  expect(await ask(`http://files.test:${port}`, onPort([`files.test:${port}`]), rebinding)).toBe('reached')
  expect([connections, asked]).toEqual([1, 1])
  // The server is asked for by its name, not by the address.
  expect(hostsAsked).toEqual([`files.test:${port}`])
})

test('each request is judged anew: a name that moved is refused although it was connected to', async () => {
  const policy = onPort([`named.test:${port}`])
  const request = createOutboundRequest(policy, TIMES, { resolve: async () => at('127.0.0.1') })
  const get = async (name: string) => text((await request(call(`http://${name}:${port}`))).body)
  expect(await get('named.test')).toBe('reached')
  expect(await get('named.test')).toBe('reached')
  expect(connections).toBe(2)
  await expect(get('other.test')).rejects.toThrow(RefusedAddress)
  expect(connections).toBe(2)
})

test('a port or protocol the policy does not allow is refused by the request too', async () => {
  const strict: OutboundPolicy = { ports: { 'https:': [443], 'http:': [] }, hosts: new Set() }
  await expect(ask(`http://93.184.215.14:${port}`, strict)).rejects.toThrow(RefusedAddress)
  await expect(ask(`https://files.test:${port}`, strict, async () => at('127.0.0.1'))).rejects.toThrow(RefusedAddress)
  expect(connections).toBe(0)
})

test.each([
  ['within them', at('127.0.0.1'), 'reached'],
  ['within them and elsewhere', at('127.0.0.1', '10.0.0.1'), null],
  ['to the public internet, which only ordinary ports may', at('93.184.215.14'), null],
])('where the operator allows networks, a name on any port that leads %s', async (_name, addresses, answer) => {
  const networks = new BlockList()
  networks.addSubnet('127.0.0.0', 8)
  const policy: OutboundPolicy = { ports: { 'https:': [443], 'http:': [] }, hosts: new Set(), networks }
  const asked = ask(`http://hooks.test:${port}`, policy, async () => addresses)
  if (answer === null) await expect(asked).rejects.toThrow(RefusedAddress)
  else expect(await asked).toBe(answer)
  expect(connections).toBe(answer === null ? 0 : 1)
})

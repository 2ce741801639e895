// How often an agent may call: a message counts whether it calls the api or not, and a refusal says when to try again.
import { afterEach, expect, test } from 'vitest'
import { createRequestLimits } from '../http/rate-limit/request-limits.ts'
import { type AgentRig, startAgentRig } from './testing/agent-rig.ts'

let rig: AgentRig
afterEach(() => rig?.close())

const many = { perSecond: 1, burst: 1_000 }
const few = { perSecond: 1, burst: 5 }

/** `usual`: of messages. `own`: of the calls of a platform. */
async function start({ usual = many, own = many, addressPerSecond = 1_000 } = {}): Promise<void> {
  const rates = { usual, of: () => own, close: async () => undefined }
  const limits = createRequestLimits({ rates, addressPerSecond, nowMs: () => performance.now() })
  rig = await startAgentRig({ limits })
}

const LISTING = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
const list = (token: string): Promise<Response> => rig.post(LISTING, { authorization: `Bearer ${token}` })
const listMany = async (tokens: readonly string[]): Promise<Response[]> =>
  await Promise.all(Array.from({ length: 20 }, (_, index) => list(tokens[index % tokens.length] ?? '')))

test('messages that call nothing count for their grant, whichever of its tokens they come with', async () => {
  await start({ usual: few })
  const [user, other] = [await rig.newUser(), await rig.newUser()]
  const answers = await listMany([await user.token(), await user.token()])
  const refused = answers.filter(({ status }) => status === 429)
  expect(refused.length).toBeGreaterThan(0)
  expect(answers.length - refused.length).toBeGreaterThanOrEqual(few.burst)
  expect(refused[0]?.headers.get('retry-after')).toBe('1')
  expect(await refused[0]?.json()).toMatchObject({
    code: 'RATE_LIMIT_EXCEEDED',
    message: expect.stringContaining('again after 1 second.'),
  })
  const passed = await list(await other.token())
  expect([passed.status, passed.headers.get('x-ratelimit-limit')]).toEqual([200, '5'])
})

test('messages without a valid token are limited by their address', async () => {
  await start({ addressPerSecond: 1 })
  const answers = await listMany(['x.y.z'])
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 429]))
})

test('a call that its platform refuses is an error of the tool that says when to try again, in the text too', async () => {
  await start({ own: few })
  const user = await rig.newUser()
  const agents = await Promise.all([1, 2].map(async () => await rig.agent({ token: await user.token() })))
  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => await agents[index % 2]?.call('customers_list')),
  )
  const refused = answers.find(answer => answer?.isError)
  expect(refused?.content).toMatchObject({
    status: 429,
    retry_after_seconds: 1,
    error: { code: 'RATE_LIMIT_EXCEEDED', message: expect.stringContaining('again after 1 second.') },
  })
  expect(JSON.parse(refused?.line ?? '')).toMatchObject({ status: 429, retry_after_seconds: 1 })
  // The token calls the same routes by itself no more often.
  const direct = await Promise.all(
    Array.from({ length: 20 }, async () =>
      rig.api.app.inject({ url: '/v1/customers', headers: { authorization: `Bearer ${await user.token()}` } }),
    ),
  )
  expect(direct.map(({ statusCode }) => statusCode)).toContain(429)
})

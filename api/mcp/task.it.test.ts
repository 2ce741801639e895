// What an agent pays for the commonest whole task: meter, plan, subscription, events and a preview, by following the guide.
import { MockAgent } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { NO_USAGE } from '../modules/billing/testing/no-usage.ts'
import { type AgentRig, startAgentRig } from './testing/agent-rig.ts'

const CALLS_MAX = 20
const TOKENS_MAX = 12_000
const CHARACTERS_A_TOKEN = 4

let rig: AgentRig
const gateway = new MockAgent()
beforeAll(async () => {
  const pool = gateway.get('http://gateway')
  const answer = {
    statusCode: 201,
    data: '{"meter_datas":[]}',
    responseOptions: { headers: { 'content-type': 'application/json' } },
  }
  pool
    .intercept({ path: '/v1/events/ingest-list', method: 'POST' })
    .reply(() => answer)
    .persist()
  rig = await startAgentRig({ usage: NO_USAGE, gateway: { dispatcher: pool, bodyBytesMax: 262_144 } })
})
afterAll(async () => {
  await rig?.close()
  await gateway.close()
})

test('a meter, a plan, a subscription, events and a preview take at most 20 calls and 12,000 tokens', async () => {
  const agent = await rig.agent()
  let calls = 1
  let characters = JSON.stringify((await agent.client.listTools()).tools).length
  const call = async (name: string, given: Record<string, unknown>) => {
    const answer = await agent.call(name, given)
    calls += 1
    characters += JSON.stringify({ name, given }).length + answer.text.length + answer.line.length
    expect(answer.isError, `${name} ${JSON.stringify(given)}: ${answer.text}`).toBe(false)
    return answer.content.data
  }
  const guide = await call('how_to', { task: 'from nothing to a preview: meter, plan, subscription' })
  expect(guide.task).toBe('meter_to_preview')
  const known = new Map<string, string>()
  let amount: unknown
  for (const step of guide.steps as string[]) {
    const [, tool = '', id, body = '', answered] =
      /^(\w+)(?: id <(\w+)>)? (\{.*?\})(?= →|;|$)(?: → <(\w+)>)?/.exec(step) ?? []
    const filled = body.replaceAll(/<(\w+)>/g, (_match, name: string) => known.get(name) ?? `no ${name}`)
    const data = await call('call_write_tool', {
      tool,
      arguments: { ...(id === undefined ? {} : { id: known.get(id) }), body: JSON.parse(filled) },
    })
    if (answered !== undefined) known.set(answered, data.id)
    if (tool === 'invoices_preview') amount = data.invoice?.invoice_amount_including_tax?.currency
  }
  expect(amount).toBe('EUR')
  expect(calls).toBeLessThanOrEqual(CALLS_MAX)
  expect(characters / CHARACTERS_A_TOKEN).toBeLessThanOrEqual(TOKENS_MAX)
})

// Every operation is a tool or is on the list of those that are none; their names stay; none writes with the scope to read.
import { Registry } from 'prom-client'
import { Agent as Dispatcher } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { EXCLUSIONS, exclusionOf } from './exclusions.ts'
import { type AgentRig, startAgentRig } from './testing/agent-rig.ts'
import { groupsOf } from './tools/finders.ts'
import { operationsOf } from './tools/operations.ts'
import { toolsOf } from './tools/tools.ts'

let rig: AgentRig
const dispatcher = new Dispatcher()
const registry = new Registry()
beforeAll(async () => {
  rig = await startAgentRig({
    gateway: { dispatcher, bodyBytesMax: 262_144 },
    operations: { registry, ready: async () => null },
  })
})
afterAll(async () => {
  await rig?.close()
  await dispatcher.close()
})

test('every route that needs a caller is a tool, or on the list with its reason', () => {
  const operations = operationsOf(rig.api.app.swagger())
  const tools = [...toolsOf(rig.api.app.swagger()).values()].map(({ operation }) => operation)
  const placeOf = (each: { method: string; path: string }) => `${each.method} ${each.path}`
  const reached = new Set([...tools, ...operations.filter(each => exclusionOf(each) !== null)].map(placeOf))
  const routes = rig.api.routes.map(({ method, url }) => placeOf({ method, path: url.replaceAll(/:(\w+)/g, '{$1}') }))
  expect(routes.length).toBeGreaterThan(100)
  expect(routes.filter(route => !reached.has(route))).toEqual([])
  expect(operations.map(placeOf).filter(place => !reached.has(place))).toEqual([])
})

test('every reason on the list is about an operation there is, and no more than a few are', () => {
  const operations = operationsOf(rig.api.app.swagger())
  const stale = EXCLUSIONS.filter(({ covers, ahead }) => !ahead && !operations.some(covers))
  expect(stale.map(({ reason }) => reason)).toEqual([])
  const excluded = operations.filter(each => exclusionOf(each) !== null)
  expect(excluded.length).toBeLessThan(operations.length / 4)
})

test('every tool reaches the route of its operation, and lists answer', async () => {
  const agent = await rig.agent()
  const tools = [...toolsOf(rig.api.app.swagger()).values()]
  const wrong: string[] = []
  for (const { name, operation, isRead } of tools) {
    const ids = Object.fromEntries(operation.pathParameters.map(parameter => [parameter.name, 'nothing']))
    const given = { ...ids, ...(operation.body ? { body: {} } : {}) }
    const route = { method: operation.method, route: operation.path.replaceAll(/\{(\w+)\}/g, ':$1') }
    const before = await requestsTo(route)
    const outcome = await agent.call(name, given).then(
      ({ content }) => content.status,
      (error: { code: number }) => error.code,
    )
    if ((await requestsTo(route)) !== before + 1) wrong.push(`${name} did not reach ${operation.path}`)
    const { method, pathParameters, query } = operation
    const isList = isRead && method === 'GET' && pathParameters.length === 0 && !query.some(({ required }) => required)
    // There is no usage in this test, so that what reads it answers 503.
    if (isList && ![200, 503].includes(outcome)) wrong.push(`${name} answered ${outcome}`)
  }
  expect(wrong).toEqual([])
})

async function requestsTo({ method, route }: { method: string; route: string }): Promise<number> {
  const { values } = (await registry.getSingleMetric('millrace_api_request_seconds')?.get()) ?? { values: [] }
  return values
    .filter(each => 'metricName' in each && String(each.metricName).endsWith('_count'))
    .filter(({ labels }) => labels['method'] === method && labels['route'] === route)
    .reduce((sum, { value }) => sum + value, 0)
}

// A tool's name is what agents and their users' permissions remember. A new one is added by `npm run record`; one that
// changes or goes is a break.
test('the names of the tools, group by group', async () => {
  const tools = toolsOf(rig.api.app.swagger())
  const all = [...tools.values()]
  const lines = groupsOf(tools)
    .toSorted()
    .flatMap(group => [
      group,
      ...all
        .filter(({ operation }) => operation.group === group)
        .map(({ name, operation }) => `  ${name}: ${operation.method} ${operation.path}`)
        .toSorted(),
    ])
  await expect(`${lines.join('\n')}\n`, 'npm run record').toMatchFileSnapshot('tool-names.txt')
})

test('no tool that changes something answers a token of scope read', async () => {
  const agent = await rig.agent({ scope: 'service:read' })
  const tools = [...toolsOf(rig.api.app.swagger()).values()]
  // The gateway judges the tokens of its calls itself.
  const writes = tools.filter(tool => !tool.isRead && !tool.name.startsWith('events_ingest'))
  const outcomes: Record<string, string[]> = {}
  for (const { name, operation } of writes) {
    const ids = Object.fromEntries(operation.pathParameters.map(parameter => [parameter.name, 'nothing']))
    const given = { ...ids, ...(operation.body ? { body: {} } : {}) }
    const outcome = await agent.call(name, given).then(
      ({ content }) => `${content.status} ${content.error?.code}`,
      (error: { code: number; message: string }) =>
        `${error.code} ${/INSUFFICIENT_SCOPE/.exec(error.message)?.[0] ?? error.message}`,
    )
    outcomes[outcome] = [...(outcomes[outcome] ?? []), name]
  }
  const { '403 INSUFFICIENT_SCOPE': refused = [], ...others } = outcomes
  expect(refused.length).toBeGreaterThan(40)
  // A body that is no body of the call is refused before it is asked who may make it.
  expect(
    Object.keys(others).filter(outcome => !/^400 (MISSING_FIELD|INVALID_REQUEST|INVALID_FIELD)$/.test(outcome)),
  ).toEqual([])
})

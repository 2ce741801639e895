// What the guides say works: every step is a tool with a body its operation takes, and words find the tools people mean.
import { beforeAll, expect, test } from 'vitest'
import { isObject, type JsonObject } from '../description/json.ts'
import { createChecker } from '../testing/checker.ts'
import { describedApi } from '../testing/described-api.ts'
import { GUIDES } from './guides.ts'
import { rankTools } from './tools/rank-tools.ts'
import { type Tools, toolsOf } from './tools/tools.ts'

let api: JsonObject
let tools: Tools
beforeAll(async () => {
  api = await describedApi()
  tools = toolsOf(api)
}, 60_000)

test('every step of every guide names a tool, and its body has the shape that the tool takes', () => {
  const check = createChecker(api)
  const faults: string[] = []
  expect(GUIDES).toHaveLength(10)
  for (const { task, steps } of GUIDES) {
    for (const step of steps) {
      const [, name = '', rest = ''] = /^([a-z]+_[a-z_]+)(?= |;|$)(.*)$/.exec(step) ?? []
      if (name === '') continue
      const tool = tools.get(name)
      if (!tool) faults.push(`${task}: there is no ${name}`)
      const body = bodyIn(rest)
      const shape = String(tool?.operation.body?.schema['$ref'] ?? '').replace('#/components/schemas/', '')
      const fault = body === null || shape === '' ? null : check(shape, body)
      if (fault !== null) faults.push(`${task}, ${name}: ${fault}`)
    }
  }
  expect(faults).toEqual([])
})

test.each([
  ['cancel subscription', 'pricing_plan_subscriptions_cancel'],
  ['preview total', 'invoices_preview'],
  ['create a plan', 'pricing_plans_create'],
  ['send usage events', 'events_ingest'],
  ['why is an event not billed', 'events_event_trace_read'],
  ['new customer', 'customers_create'],
  ['list invoices', 'invoices_list'],
  ['fix an event', 'events_amend'],
  ['estimate the bill', 'invoices_preview'],
])('%s finds %s among the first five', (words, name) => {
  const found = rankTools(tools, words).map(tool => tool.name)
  expect(found.slice(0, 5)).toContain(name)
})

/** The first object written in a text, with `<x>` as an id. */
function bodyIn(text: string): JsonObject | null {
  const start = text.indexOf('{')
  if (start === -1) return null
  let depth = 0
  for (let index = start; index < text.length; index += 1) {
    if (text[index] === '{') depth += 1
    if (text[index] === '}') depth -= 1
    if (depth > 0) continue
    const value: unknown = JSON.parse(text.slice(start, index + 1))
    return isObject(value) ? value : null
  }
  return null
}

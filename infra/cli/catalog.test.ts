// How the command follows a revenue gate, against answers of the api.
import { expect, test } from 'vitest'
import { type CliWorld, catalogCommand } from './catalog.ts'

async function run(args: readonly string[], answers: readonly object[]) {
  const urls: string[] = []
  const said: string[] = []
  const world: CliWorld = {
    env: { MILLRACE_API_KEY: 'key', MILLRACE_URL: 'http://api.test' },
    fetch: async url => {
      const answer = answers[urls.push(url) - 1]
      return { status: 200, text: async () => JSON.stringify(answer) }
    },
    readFile: async () => 'format: 1',
    writeFile: async () => {},
    print: line => said.push(line),
    complain: line => said.push(line),
  }
  return { code: await catalogCommand(args, world), urls, said }
}

const gate = (status: string, simulation: string, percentage: number) => ({
  status,
  simulations: [{ id: 'ppsi_1', catalog_reference: 'standard@2', status: simulation, percentage }],
})
const waiting = {
  applicable: false,
  changes: [],
  refusals: [{ field: 'revenue_gate', message: 'still simulated' }],
  revenue_gate: gate('IN_PROGRESS', 'IN_PROGRESS', 40),
}
const changes = [{ action: 'CREATE', section: 'pricing_plans', reference: 'standard@2', differences: [] }]

test('plan repeats the call while prices are simulated, and ends with 1 when a limit does not hold', async () => {
  const failed = {
    applicable: false,
    changes,
    refusals: [{ field: 'revenue_gate', message: 'too much' }],
    revenue_gate: gate('FAILED', 'FAILED', 100),
  }
  const args = [
    'plan',
    '--max-revenue-change',
    '5',
    '--file',
    'c.yaml',
    '--periods',
    '3',
    '--max-customer-increase',
    '10',
  ]
  const { code, urls, said } = await run(args, [waiting, failed])
  expect(code).toBe(1)
  const url = 'http://api.test/v1/catalog/plan?max_revenue_change=5&periods=3&max_customer_increase=10'
  expect(urls).toEqual([url, url])
  expect(said).toEqual([
    'simulation of standard@2: IN_PROGRESS, 40 percent',
    'simulation of standard@2: FAILED, 100 percent',
    '+ pricing_plans standard@2',
    'revenue_gate: too much',
  ])
})

test('plan prints what does not fit on a line as the file has it', async () => {
  const before = [{ name: 'Calls', bands: [{ amount: { quantity: '0.10', currency: 'EUR' } }] }]
  const after = [{ name: 'Calls', description: 'x'.repeat(100) }]
  const change = { action: 'UPDATE', section: 'pricing_plans', reference: 'standard@2' }
  const differences = [
    { field: 'version', before: 1, after: 2 },
    { field: 'pricings', before, after },
  ]
  const { said } = await run(
    ['plan', '-f', 'c.yaml'],
    [{ applicable: true, changes: [{ ...change, differences }], refusals: [], revenue_gate: null }],
  )
  expect(said).toEqual([
    '~ pricing_plans standard@2',
    '    version: 1 -> 2',
    '    pricings:',
    '      - - name: Calls',
    '      -   bands:',
    '      -     - amount:',
    '      -         quantity: "0.10"',
    '      -         currency: EUR',
    '      + - name: Calls',
    `      +   description: ${'x'.repeat(100)}`,
    '1 change would be applied.',
  ])
})

test('plan ends with 2 when they hold and something changes', async () => {
  const passed = { applicable: true, changes, refusals: [], revenue_gate: gate('PASSED', 'DONE', 100) }
  const { code, said } = await run(['plan', '-f', 'c.yaml'], [passed])
  expect([code, said.at(-1)]).toEqual([2, '1 change would be applied.'])
})

test.each([
  [['pull', '--file', 'c.yaml', '--periods', '3']],
  [['pull', '--max-revenue-change', '3']],
  [['plan', '--file', 'c.yaml', '--periods']],
  [['plan', '--file', 'c.yaml', '--periods', '1', '--periods', '2']],
  [['plan', '--file', 'c.yaml', '--most', '2']],
  [['plan', '--periods', '2']],
])('%j is not understood', async args => {
  expect(await run(args, [])).toMatchObject({ code: 1, urls: [] })
})

test('apply with limits waits for the plan, applies with the same limits, and not at all when one does not hold', async () => {
  const args = ['apply', '--file', 'c.yaml', '--max-revenue-change', '5']
  const passed = { applicable: true, changes, refusals: [], revenue_gate: gate('PASSED', 'DONE', 100) }
  const applied = await run(args, [waiting, passed, { changes }])
  expect([applied.code, applied.urls.map(url => url.slice(url.lastIndexOf('/')))]).toEqual([
    0,
    ['/plan?max_revenue_change=5', '/plan?max_revenue_change=5', '/apply?max_revenue_change=5'],
  ])
  const failed = { ...passed, applicable: false, refusals: [{ field: 'revenue_gate', message: 'too much' }] }
  const refused = await run(args, [failed])
  expect([refused.code, refused.urls.length, refused.said.at(-1)]).toEqual([1, 1, 'revenue_gate: too much'])
})

test('pull writes what an entry is before what it holds, and keeps the order of the sections', async () => {
  const configs = [{ bands: [{ amount: { quantity: '1', currency: 'EUR' } }], pricing_type: 'FLAT' }]
  const pricings = [{ items: [{ configs, product_items: ['calls'] }], name: 'Calls' }]
  const catalog = {
    format: 1,
    pricing_plans: [{ versions: [{ pricings, version: 1 }], name: 'Standard' }],
    coupons: [],
  }
  const { said } = await run(['pull'], [catalog])
  expect(said.join('').split('\n')).toEqual([
    'format: 1',
    'pricing_plans:',
    '  - name: Standard',
    '    versions:',
    '      - version: 1',
    '        pricings:',
    '          - name: Calls',
    '            items:',
    '              - product_items:',
    '                  - calls',
    '                configs:',
    '                  - pricing_type: FLAT',
    '                    bands:',
    '                      - amount:',
    '                          quantity: "1"',
    '                          currency: EUR',
    'coupons: []',
  ])
})

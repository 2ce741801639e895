// millrace catalog against the api: what it writes it can apply, and its exit codes are those that CI goes by.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiHarness, startApi, type TestTenant } from '../../api/testing/harness.ts'
import { type CliWorld, catalogCommand } from './catalog.ts'

let api: ApiHarness
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api?.close())

const files = new Map<string, string>()

async function run({ key }: Pick<TestTenant, 'key'>, ...args: string[]) {
  const printed: string[] = []
  const complaints: string[] = []
  const world: CliWorld = {
    env: { MILLRACE_API_KEY: key, MILLRACE_URL: 'http://api.test/' },
    fetch: async (url, { method, headers, body }) => {
      const answer = await api.app.inject({
        method: method as 'GET' | 'POST',
        url: new URL(url).pathname,
        headers,
        ...(body === undefined ? {} : { payload: body }),
      })
      return { status: answer.statusCode, text: async () => answer.body }
    },
    readFile: async path => {
      const text = files.get(path)
      if (text === undefined) throw new Error(`no ${path}`)
      return text
    },
    writeFile: async (path, text) => {
      files.set(path, text)
    },
    print: line => printed.push(line),
    complain: line => complaints.push(line),
  }
  return { code: await catalogCommand(args, world), printed, complaints }
}

const YAML = `format: 1
product_categories:
  - reference: ai
    name: "0.10"
products:
  - reference: inference
    name: Inference
    category: ai
    status: ACTIVE
`

test('a file is planned, applied, pulled as YAML and as JSON, and applied elsewhere', async () => {
  const { aLive, bLive } = api.tenants
  files.set('in.yaml', YAML)
  const planned = await run(aLive, 'plan', '--file', 'in.yaml')
  expect([planned.code, planned.complaints]).toEqual([2, []])
  expect(planned.printed).toContain('+ product_categories ai')
  expect(planned.printed).toContain('    name: null -> "0.10"')
  expect(planned.printed.at(-1)).toBe('2 changes would be applied.')
  expect((await run(aLive, 'apply', '-f', 'in.yaml')).code).toBe(0)
  expect(await run(aLive, 'apply', '--file', 'in.yaml')).toMatchObject({ code: 0, printed: ['Nothing changed.'] })
  expect(await run(aLive, 'plan', '--file', 'in.yaml')).toMatchObject({ code: 0, printed: ['Nothing would change.'] })

  for (const name of ['out.yaml', 'out.json']) expect((await run(aLive, 'pull', '--file', name)).code).toBe(0)
  expect(JSON.parse(files.get('out.json') ?? '')).toMatchObject({ format: 1, product_categories: [{ name: '0.10' }] })
  const shown = await run(aLive, 'pull')
  expect(`${shown.printed.join('\n')}\n`).toBe(files.get('out.yaml'))
  expect((await run(bLive, 'apply', '--file', 'out.yaml')).code).toBe(0)
  expect((await run(bLive, 'plan', '--file', 'out.json')).code).toBe(0)
})

test('what cannot be done ends with 1 and says why', async () => {
  const { aTest } = api.tenants
  files.set('bad.yaml', YAML.replace('category: ai', 'category: none'))
  const refused = 'products.0.category: There is no "none" in product_categories.'
  expect(await run(aTest, 'plan', '--file', 'bad.yaml')).toMatchObject({ code: 1, complaints: [refused] })
  const applied = await run(aTest, 'apply', '--file', 'bad.yaml')
  expect(applied).toMatchObject({ code: 1, printed: [], complaints: [`RESOURCE_NOT_FOUND ${refused}`] })
  expect((await run({ key: 'wrong' }, 'pull')).code).toBe(1)
  expect((await run({ key: '' }, 'pull')).complaints[0]).toMatch(/MILLRACE_API_KEY/)
  files.set('torn.yaml', 'a: [')
  await expect(run(aTest, 'plan', '--file', 'torn.yaml')).rejects.toThrow(/torn.yaml cannot be read/)
  for (const args of [['plan'], ['push', '--file', 'x'], [], ['pull', '--file'], ['pull', 'x']]) {
    expect((await run(aTest, ...args)).code).toBe(1)
  }
})

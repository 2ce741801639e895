// What the description promises of answers is what the api answers: every resource is made by its fixture, and each answer is
// checked as an outside validator checks it. `RECORD_EXAMPLES=1 npm test -- api/description/answers` writes examples.json anew.
import { writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RESOURCES } from '../modules/modules.ts'
import type { FixtureSeed, Resource } from '../resource/define-resource.ts'
import { createChecker } from '../testing/checker.ts'
import { type ApiHarness, startApi, type TestTenant } from '../testing/harness.ts'

import { isObject, type JsonObject } from './json.ts'
import { HAND_WRITTEN } from './testing/hand-written-examples.ts'
import { withPlainNames } from './testing/plain-names.ts'

let api: ApiHarness
let a: TestTenant
beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aTest
})
afterAll(() => api?.close())

const isMade = (resource: Resource): boolean =>
  api.routes.some(({ method, url }) => method === 'POST' && url === `/v1/${resource.path}`)

test('every answer of every resource has the shape that is described, and nothing promised is missing', async () => {
  const description: unknown = JSON.parse(JSON.stringify(api.app.swagger()))
  const check = createChecker(isObject(description) ? description : {})
  const recorded: Record<string, unknown> = { ...HAND_WRITTEN }
  const faults: string[] = []
  const look = (shape: string, value: unknown): void => {
    const fault = check(shape, value)
    if (fault !== null) faults.push(`${shape}: ${fault}`)
    else recorded[shape] ??= value
  }
  const { seed, unique } = readableSeed()
  for (const resource of RESOURCES) {
    const { shapeName, path } = resource
    if (!isMade(resource)) {
      const { status, body } = await a.call('GET', `/v1/${path}/${a.tenant.platformId}`)
      if (status === 200) look(shapeName, body)
      continue
    }
    const create = await resource.fixture.create(seed)
    look(`${shapeName}Create`, create)
    const made = await a.call('POST', `/v1/${path}`, create)
    expect(made.status, `${shapeName}: ${JSON.stringify(made.body)}`).toBe(201)
    look(shapeName, made.body)
    if (resource.operations.includes('get'))
      look(shapeName, (await a.call('GET', `/v1/${path}/${made.body['id']}?expand[]=ALL`)).body)
    if (resource.operations.includes('list')) {
      const isPaged = resource.paged ?? true
      look(`${shapeName}${isPaged ? 'Page' : 'List'}`, (await a.call('GET', `/v1/${path}`)).body)
    }
  }
  expect(faults).toEqual([])
  if (process.env['RECORD_EXAMPLES']) await write(recorded, unique)
})

/** Fixtures with names that a reader can read. */
function readableSeed(): { seed: FixtureSeed; unique: ReadonlyMap<string, string> } {
  const unique = new Map<string, string>()
  const seed: FixtureSeed = {
    ...a.seed,
    unique: prefix => {
      const name = a.seed.unique(prefix)
      const count = [...unique.values()].filter(
        plain => plain === prefix || /^-\d+$/.test(plain.slice(prefix.length)),
      ).length
      unique.set(name, count === 0 ? prefix : `${prefix}-${count + 1}`)
      return name
    },
    make: async resource => {
      const { status, body } = await a.call('POST', `/v1/${resource.path}`, await resource.fixture.create(seed))
      expect(status, `${resource.objectType}: ${JSON.stringify(body)}`).toBe(201)
      return body as never
    },
  }
  return { seed, unique }
}

async function write(recorded: Record<string, unknown>, names: ReadonlyMap<string, string>): Promise<void> {
  const kept = Object.entries(recorded).filter(([shape]) => !/(Page|List)$/.test(shape) || shape in HAND_WRITTEN)
  const plain: JsonObject = withPlainNames(Object.fromEntries(kept.toSorted(([x], [y]) => (x < y ? -1 : 1))), names)
  await writeFile(new URL('./examples.json', import.meta.url), `${JSON.stringify(plain, null, 2)}\n`)
}

// What the description promises of answers is what the api answers: every resource is made by its fixture, and each answer is
// checked as an outside validator checks it. `npm run record` writes examples.json anew.
import { writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RESOURCES } from '../modules/modules.ts'
import type { FixtureSeed, Resource } from '../resource/define-resource.ts'
import { createChecker } from '../testing/checker.ts'
import { type ApiHarness, startApi, type TestTenant } from '../testing/harness.ts'

import { callsOf, PROBE_MS } from '../testing/probe-tenants.ts'
import { IS_PAGE } from './examples.ts'
import { isObject, type JsonObject, objectIn, textIn } from './json.ts'
import { HAND_WRITTEN } from './testing/hand-written-examples.ts'
import { NOW, withPlainNames } from './testing/plain-names.ts'

let api: ApiHarness
let a: TestTenant
let before: number
beforeAll(async () => {
  api = await startApi()
  a = api.tenants.aTest
  // What is billed until today is in the examples.
  before = api.clock.now()
  api.clock.set(Date.parse(NOW))
})
afterAll(async () => {
  api?.clock.set(before)
  await api?.close()
})

const isMade = (resource: Resource): boolean =>
  api.routes.some(({ method, url }) => method === 'POST' && url === `/v1/${resource.path}`)

let description: JsonObject
let check: (shape: string, value: unknown) => string | null
const recorded: Record<string, unknown> = { ...HAND_WRITTEN }
const names = new Map<string, string>()
beforeAll(() => {
  const read: unknown = JSON.parse(JSON.stringify(api.app.swagger()))
  description = isObject(read) ? read : {}
  check = createChecker(description)
})
/** What is wrong with a value that a caller met; a value that is right becomes an example. */
function faultsOf(shape: string, value: unknown): string[] {
  const fault = check(shape, value)
  if (fault !== null) return [`${shape}: ${fault}`]
  recorded[shape] ??= value
  return []
}

test(
  'every answer of every resource has the shape that is described, and nothing promised is missing',
  async () => {
    const faults: string[] = []
    const look = (shape: string, value: unknown): void => void faults.push(...faultsOf(shape, value))
    const { seed, unique } = readableSeed()
    for (const resource of RESOURCES) {
      const { shapeName, path } = resource
      const change = shapesOf(`PATCH /v1/${path}/:id`).request
      if (change !== null && resource.fixture.update !== null) look(change, resource.fixture.update)
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
    for (const [name, plain] of unique) names.set(name, plain)
  },
  PROBE_MS,
)

/** What reads comes first, and what deletes last, so that most calls find what they need. */
const ORDER = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

test(
  'every call that succeeds takes and answers the shapes that are described',
  async () => {
    const faults: string[] = []
    const { aLive } = api.tenants
    const calls = await callsOf(api, api.routes, aLive)
    for (const { what, method, url, body, headers } of calls.toSorted(
      (one, other) => ORDER.indexOf(one.method) - ORDER.indexOf(other.method),
    )) {
      const { request, answer } = shapesOf(what)
      const { status, body: answered } = await aLive.call(method, url, body, headers)
      if (status >= 300) continue
      if (request !== null && body !== undefined) faults.push(...faultsOf(request, body))
      if (answer !== null) faults.push(...faultsOf(answer, answered))
    }
    expect(faults).toEqual([])
  },
  PROBE_MS,
)

// By `npm run record`, the answers become the examples of the description.
afterAll(async () => {
  if (process.env['RECORD_EXAMPLES']) await write(recorded, names)
})

/** The names of what a route takes and answers; null where it is no shape with a name. */
function shapesOf(route: string): { readonly request: string | null; readonly answer: string | null } {
  const [method = '', url = ''] = route.split(' ')
  const path = objectIn(objectIn(description, 'paths'), url.replaceAll(/:(\w+)/g, '{$1}'))
  const operation = objectIn(path, method.toLowerCase())
  const nameIn = (at: JsonObject): string | null => {
    const ref = textIn(objectIn(objectIn(objectIn(at, 'content'), 'application/json'), 'schema'), '$ref')
    return ref?.split('/').at(-1) ?? null
  }
  const responses = objectIn(operation, 'responses')
  const success = Object.keys(responses).find(status => status.startsWith('2'))
  return {
    request: nameIn(objectIn(operation, 'requestBody')),
    answer: success === undefined ? null : nameIn(objectIn(responses, success)),
  }
}

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

async function write(values: Record<string, unknown>, made: ReadonlyMap<string, string>): Promise<void> {
  const kept = Object.entries(values).map(([shape, value]): [string, unknown] => [
    shape,
    IS_PAGE.test(shape) && isObject(value) && !(shape in HAND_WRITTEN) ? { ...value, data: [] } : value,
  ])
  const plain: JsonObject = withPlainNames(Object.fromEntries(kept.toSorted(([x], [y]) => (x < y ? -1 : 1))), made)
  await writeFile(new URL('./examples.json', import.meta.url), `${JSON.stringify(plain, null, 2)}\n`)
}

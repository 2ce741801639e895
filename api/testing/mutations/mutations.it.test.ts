// Valid calls of every route, changed in a place or two: whatever comes, the answer is never a fault of the server, a refusal says what it
// refuses, and what was accepted can be read. One seed again: SEED=7; more of them: SEEDS=50; each route more often: EACH=40; other routes left out: ROUTE=/v1/coupons.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isObject, type JsonObject, objectIn } from '../../description/json.ts'
import { seedsOr } from '../../modules/billing/testing/year/live/seeds.ts'
import { chance, type Random, randomOf } from '../../modules/billing/testing/year/random.ts'
import { type Answer, type ApiHarness, startApi, type TestTenant } from '../harness.ts'
import { callsOf, PROBE_MS } from '../probe-tenants.ts'
import { mutated, type Stock, valueFrom } from './mutate.ts'
import { pickOf, trouble } from './trouble.ts'

/** How often each route is called with each seed. */
const EACH = Number(process.env['EACH'] ?? 1)
const ROUTE = process.env['ROUTE'] ?? ''
const ID = /\b[a-z]{2,8}_[A-Za-z0-9]{10,}\b/g

let api: ApiHarness
let description: JsonObject
beforeAll(async () => {
  api = await startApi()
  description = JSON.parse(JSON.stringify(api.app.swagger()))
})
afterAll(() => api?.close())

type Call = Awaited<ReturnType<typeof callsOf>>[number]
/** Settings limit what a platform may ask, and what was deleted is found by no call. */
const inOrder = (calls: readonly Call[]): Call[] => {
  const place = ({ method, url }: Call) => (method === 'DELETE' ? 2 : url.startsWith('/v1/platforms') ? 1 : 0)
  return calls.toSorted((one, other) => place(one) - place(other))
}

function operationOf({ what }: Call): JsonObject {
  const [method = '', url = ''] = what.split(' ')
  return objectIn(objectIn(objectIn(description, 'paths'), url.replaceAll(/:(\w+)/g, '{$1}')), method.toLowerCase())
}

const schemaOf = (holder: JsonObject): JsonObject =>
  objectIn(objectIn(objectIn(holder, 'content'), 'application/json'), 'schema')

const inUrl = (value: unknown): string =>
  encodeURIComponent(
    (isObject(value) ? JSON.stringify(value) : String(value)).slice(0, 500).replaceAll(/[\ud800-\udfff]/g, ''),
  )

let count = 0
function newName(): string {
  count += 1
  return `-changed-${count}"`
}
/** With names that no other call has used. */
const renewed = (body: unknown): unknown =>
  body === undefined ? undefined : JSON.parse(JSON.stringify(body).replaceAll(/-\d+-\d+"/g, newName))

function changedCall(random: Random, call: Call, stock: Stock): Call {
  const operation = operationOf(call)
  const schema = schemaOf(objectIn(operation, 'requestBody'))
  const hasBody = Object.keys(schema).length > 0 && call.method !== 'GET'
  let body = renewed(call.body)
  if (hasBody) body = mutated(random, body, schema, stock)
  if (hasBody && chance(random, 0.3)) body = mutated(random, body, schema, stock)
  let { url } = call
  if (chance(random, 0.05)) url = url.replace(new RegExp(ID.source), () => inUrl(trouble(random)))
  const parameters = Array.isArray(operation['parameters']) ? operation['parameters'].filter(isObject) : []
  const parameter = pickOf(
    random,
    parameters.filter(each => each['in'] === 'query'),
  )
  if (parameter && (!hasBody || chance(random, 0.2))) {
    const value = chance(random, 0.5) ? trouble(random) : valueFrom(random, objectIn(parameter, 'schema'), stock)
    const given = (Array.isArray(value) ? value : [value]).map(each => `${inUrl(parameter['name'])}=${inUrl(each)}`)
    url += `${url.includes('?') ? '&' : '?'}${given.join('&')}`
  }
  const headers = chance(random, 0.05) ? { ...call.headers, 'idempotency-key': inUrl(trouble(random)) } : call.headers
  return { ...call, url, headers, body: typeof body === 'string' ? JSON.stringify(body) : body }
}

/** What is wrong with an answer; null when nothing is. */
function faultOf({ status, headers, body }: Answer): string | null {
  if (status >= 500) return `a fault of the server: ${JSON.stringify(body)}`
  if (status < 400) return null
  const { type, code, message } = body
  const isWhole = [type, code, message].every(each => typeof each === 'string' && each !== '')
  return isWhole && headers['x-request-id'] ? null : `a refusal that does not say enough: ${JSON.stringify(body)}`
}

/** Whether what a call made or changed is answered when it is read. */
async function readAgain(tenant: TestTenant, { method, what }: Call, { status, body }: Answer): Promise<string | null> {
  const path = what.split(' ')[1]?.split('/').slice(0, 3).join('/')
  if (method === 'GET' || status >= 300 || typeof body['id'] !== 'string') return null
  const fault = faultOf(await tenant.call('GET', `${path}/${body['id']}?expand[]=ALL`))
  return fault && `it was accepted, and then: ${fault}`
}

test.each(seedsOr([1]))(
  'a valid call that is changed as seed %i says is answered or refused, and what was accepted can be read',
  async seed => {
    const random = randomOf(seed)
    const tenant = api.tenants.aTest
    const calls = await callsOf(api, api.routes, tenant)
    const ids = [...new Set(JSON.stringify(calls).match(ID) ?? [])]
    const stock = { schemas: objectIn(objectIn(description, 'components'), 'schemas'), ids }
    const faults: string[] = []
    const statuses = new Set<number>()
    for (const call of inOrder(calls).filter(({ url }) => url.startsWith(ROUTE))) {
      for (let time = 0; time < EACH; time += 1) {
        const { what, method, url, body, headers } = changedCall(random, call, stock)
        const answer = await tenant.call(method, url, body, headers)
        statuses.add(answer.status)
        const fault = faultOf(answer) ?? (await readAgain(tenant, call, answer))
        if (fault) faults.push(`${what} ${url.slice(0, 300)} ${JSON.stringify(body)?.slice(0, 900)}: ${fault}`)
      }
    }
    for (const { url } of api.routes.filter(each => each.method === 'GET' && !each.url.includes(':'))) {
      const fault = faultOf(await tenant.call('GET', `${url}?expand[]=ALL&limit=100`))
      if (fault?.startsWith('a fault')) faults.push(`GET ${url}: ${fault}`)
    }
    expect(faults).toEqual([])
    // Most calls are refused; some are still right.
    if (ROUTE === '') expect([...statuses]).toEqual(expect.arrayContaining([200, 201, 400, 404, 409]))
  },
  PROBE_MS,
)

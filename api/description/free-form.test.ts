// What an answer or a body holds is described: a member that may be anything tells a generated client nothing.
import { beforeAll, expect, test } from 'vitest'
import { DESCRIBED_AS, INCLUDES } from '../resource/shapes.ts'
import { describedApi } from '../testing/described-api.ts'
import { isObject, type Json, type JsonObject, objectIn, objectsIn, textsIn } from './json.ts'

/** Those that may be anything, and why. */
const FREE_FORM: Readonly<Record<string, string>> = {
  '*EventPayload.metadata': 'what it holds depends on the event',
  'CatalogDifference.before': 'the value of any member of any section of the file',
  'CatalogDifference.after': 'the value of any member of any section of the file',
  'CatalogVersion.pricings[]': 'the body that creates a pricing, with references in place of its ids',
  'PersistDataCreate.included_volume': 'it is not supported, whatever it says',
  'WebhookEvent.payload': 'one of the payloads in `webhooks`, by the type of the event',
}

let api: JsonObject
beforeAll(async () => {
  api = await describedApi()
}, 60_000)

/** Every place within a schema that may be anything, down to what it refers to. */
function* freePlaces(schema: JsonObject, at: string): Generator<string> {
  if (typeof schema['$ref'] === 'string') return
  const branches = ['anyOf', 'oneOf', 'allOf'].flatMap(name => objectsIn(schema, name))
  for (const branch of branches) yield* freePlaces(branch, at)
  if (branches.length > 0) return
  const types = [...textsIn(schema, 'type'), ...(typeof schema['type'] === 'string' ? [schema['type']] : [])]
  const isListed = schema['enum'] !== undefined || schema['const'] !== undefined
  if (types.length === 0 && !isListed) yield at
  if (types.includes('array')) yield* freePlaces(objectIn(schema, 'items'), `${at}[]`)
  if (!types.includes('object')) return
  const { additionalProperties: others = true } = schema
  const members = Object.entries(objectIn(schema, 'properties'))
  if (members.length === 0 && others === true) yield at
  if (isObject(others)) yield* freePlaces(others, `${at}{}`)
  for (const [name, member] of members) yield* freePlaces(isObject(member) ? member : {}, `${at}.${name}`)
}

const named = (place: string): string => place.replace(/^\w+EventPayload\.metadata$/, '*EventPayload.metadata')

/** The schemas of what operations take and answer as JSON. */
function* ofOperations(): Generator<readonly [place: string, schema: JsonObject]> {
  for (const [path, item] of Object.entries(objectIn(api, 'paths')))
    for (const [method, of] of Object.entries(isObject(item) ? item : {})) {
      const operation = isObject(of) ? of : {}
      const parts = [objectIn(operation, 'requestBody'), ...Object.values(objectIn(operation, 'responses'))]
      for (const part of parts) {
        const json = objectIn(objectIn(isObject(part) ? part : {}, 'content'), 'application/json')
        if (json['schema'] !== undefined) yield [`${method.toUpperCase()} ${path}`, objectIn(json, 'schema')]
      }
    }
}

test('no member of what is taken or answered may be anything, but those that are named with a reason', () => {
  const components = Object.entries(objectIn(objectIn(api, 'components'), 'schemas'))
  const schemas = [
    ...components.map(([name, schema]) => [name, isObject(schema) ? schema : {}] as const),
    ...ofOperations(),
  ]
  expect(schemas.length).toBeGreaterThan(800)
  const free = new Set(schemas.flatMap(([at, schema]) => [...freePlaces(schema, at)].map(named)))
  expect([...free].toSorted(), 'say what it holds, as `Included` or `SentAsStored` where it is sent as it is').toEqual(
    Object.keys(FREE_FORM).toSorted(),
  )
})

test('an expansion has the shape of the resource that it includes', () => {
  const schemas = objectIn(objectIn(api, 'components'), 'schemas')
  const memberOf = (shape: string, name: string): Json | undefined =>
    objectIn(objectIn(schemas, shape), 'properties')[name]
  const refTo = (shape: string) => ({ $ref: `#/components/schemas/${shape}` })
  for (const [shape, name, target] of [
    ['PricingPlanSubscription', 'forward_customer', 'Customer'],
    ['Product', 'parent_product', 'Product'],
    ['Platform', 'default_billing_entity', 'BillingEntity'],
    ['Wallet', 'wallet_type', 'WalletType'],
  ] as const)
    expect(memberOf(shape, name)).toMatchObject({ anyOf: [refTo(target), { type: 'null' }] })
  expect(memberOf('MeterMeterValue', 'object')).toMatchObject({
    anyOf: [refTo('MeterValue'), refTo('MeterProperty'), { type: 'null' }],
  })
  const text = JSON.stringify(api)
  for (const keyword of [INCLUDES, DESCRIBED_AS]) expect(text).not.toContain(`"${keyword}"`)
})

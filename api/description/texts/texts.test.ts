// Texts of the description. Readers rely on them, and generated clients repeat them.
import { beforeAll, expect, test } from 'vitest'
import { describedApi } from '../../testing/described-api.ts'
import { FIELD_TEXTS } from '../fields/index.ts'
import { isObject, type JsonObject, objectIn, objectsIn, textIn, textsIn } from '../json.ts'
import { FORMS } from './forms.ts'

let api: JsonObject
beforeAll(async () => {
  api = await describedApi()
}, 60_000)

type Operation = { readonly place: string; readonly method: string; readonly of: JsonObject }
const operations = (): Operation[] =>
  Object.entries(objectIn(api, 'paths')).flatMap(([path, item]) =>
    Object.keys(isObject(item) ? item : {}).map(method => ({
      place: `${method.toUpperCase()} ${path}`,
      method,
      of: objectIn(isObject(item) ? item : {}, method),
    })),
  )
const shapeNames = (): string[] => Object.keys(objectIn(objectIn(api, 'components'), 'schemas'))
const fieldsOf = (shape: string): JsonObject =>
  objectIn(objectIn(objectIn(objectIn(api, 'components'), 'schemas'), shape), 'properties')
const fields = () =>
  shapeNames().flatMap(shape =>
    Object.keys(fieldsOf(shape)).map(field => ({
      at: `${shape}.${field}`,
      field,
      schema: objectIn(fieldsOf(shape), field),
    })),
  )

test('no text says only how a value is written', () => {
  expect(FORMS.size).toBeGreaterThan(6)
  const bare = fields().filter(({ schema }) => FORMS.has(textIn(schema, 'description') ?? ''))
  expect(bare.map(({ at }) => at)).toEqual([])
  const parameters = operations().flatMap(({ place, of }) =>
    objectsIn(of, 'parameters')
      .filter(each => FORMS.has(textIn(each, 'description') ?? ''))
      .map(({ name }) => `${place} ${name}`),
  )
  expect(parameters).toEqual([])
})

test('a list of ids speaks of several', () => {
  const isList = (schema: JsonObject) => schema['type'] === 'array' || textsIn(schema, 'type').includes('array')
  const one = fields().filter(({ schema }) => isList(schema) && /^Id of/.test(textIn(schema, 'description') ?? ''))
  expect(one.map(({ at }) => at)).toEqual([])
})

test('every text about a field is of one that there is', () => {
  const names = new Set(fields().map(({ field }) => field))
  const unused = Object.keys(FIELD_TEXTS).filter(key => {
    const [shape = '', field] = key.split('.')
    if (field === undefined) return !names.has(shape)
    return !shapeNames().includes(shape) || (field !== '' && !(field in fieldsOf(shape)))
  })
  expect(unused).toEqual([])
})

test('an invoice that is previewed or charged on demand says of its fields what every invoice says', () => {
  const OWN = [
    'InvoicePreview.status',
    'InvoicePreview.customer',
    'InvoicePreview.customer_id',
    'InvoicePreview.credit',
  ]
  const others = fields().filter(({ at, field, schema }) => {
    if (!/^(InvoicePreview|OnDemandInvoice)\./.test(at) || OWN.includes(at)) return false
    return schema['description'] !== objectIn(fieldsOf('Invoice'), field)['description']
  })
  expect(others.map(({ at }) => at)).toEqual([])
})

test('an operation speaks of field_actions where it takes them, and nowhere else', () => {
  const takes = ({ of }: Operation) => objectsIn(of, 'parameters').some(({ name }) => name === 'field_actions')
  const speaks = ({ of }: Operation) => /`field_actions`/.test(textIn(of, 'description') ?? '')
  const changes = operations().filter(({ method }) => method === 'patch')
  expect(changes.filter(takes).length).toBeGreaterThan(10)
  expect(changes.filter(each => speaks(each) && !takes(each)).map(({ place }) => place)).toEqual([])
})

test('every POST that honours an Idempotency-Key says so: all but ingestion, whose key is the reference of the event', () => {
  const named = ({ of }: Operation) =>
    objectsIn(of, 'parameters').some(({ $ref }) => $ref === '#/components/parameters/IdempotencyKey')
  const without = operations().filter(each => each.method === 'post' && !named(each))
  expect(without.map(({ place }) => place)).toEqual([
    'POST /v1/ingest/meter-data',
    'POST /v1/events/ingest',
    'POST /v1/events/ingest-list',
    'POST /v1/events/ingest-batch',
    'POST /v1/ingest/meter-datas',
  ])
  for (const { of } of operations().filter(each => each.method === 'post' && named(each)))
    expect(Object.keys(objectIn(of, 'responses'))).toEqual(expect.arrayContaining(['409', '422']))
})

test('a list of resources that are included has their shape', () => {
  // A file names everything by reference, and is described in its own words.
  const BY_REFERENCE = ['CatalogVersion.pricings']
  const free = fields().filter(({ at, schema }) => {
    const items = objectIn(schema, 'items')
    return items['additionalProperties'] === true && !('properties' in items) && !BY_REFERENCE.includes(at)
  })
  expect(free.map(({ at }) => at)).toEqual([])
})

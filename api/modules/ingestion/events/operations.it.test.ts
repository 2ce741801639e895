// The event interface, call by call: which are there, with what each takes beside its path, and which are refused by name.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiHarness, startApi } from '../../../testing/harness.ts'

let api: ApiHarness
beforeAll(async () => {
  // The ingest calls are declared when there is a gateway to pass them on to; none is asked here.
  api = await startApi({ gateway: { dispatcher: undefined as never, bodyBytesMax: 1_024 } })
})
afterAll(() => api?.close())

const LIST = ['customer_id', 'reference', 'meter_id', 'deleted', 'processed_details_type', 'expand[]', 'limit', 'page']
const INGEST = ['cost_prediction', 'meter_validation']
const REPROCESS = ['expand[]', 'type', 'status', 'limit', 'page', 'order_by', 'order_direction']
const OPERATIONS: [string, string, readonly string[]][] = [
  ...['/v1/events', '/v1/ingest/meter-data'].flatMap((path): [string, string, readonly string[]][] => [
    ['get', path, LIST],
    ['get', `${path}/{id}`, []],
    ['get', `${path}/{id}/event_trace`, ['expand[]', 'cost_prediction']],
    ['post', `${path}/delete`, []],
    ['post', `${path}/{id}/delete`, []],
    ['post', `${path}/amend`, []],
    ['post', `${path}/{id}/amend`, []],
  ]),
  ['post', '/v1/events/ingest', INGEST],
  ['post', '/v1/events/ingest-list', INGEST],
  ['post', '/v1/events/ingest-batch', INGEST],
  ['post', '/v1/ingest/meter-data', INGEST],
  ['post', '/v1/ingest/meter-datas', INGEST],
  ['post', '/v1/ingest/persist-data', []],
  ['get', '/v1/reprocess', REPROCESS],
  ['post', '/v1/reprocess', []],
  ['get', '/v1/reprocess/{id}', ['expand[]']],
  ['get', '/v1/platforms/{id}/up-to-date', []],
]

test.each(OPERATIONS)('%s %s is there and described', async (method, path, parameters) => {
  const { body } = await api.tenants.aLive.call('GET', '/v1/openapi.json')
  const operation = body['paths'][path]?.[method]
  expect(operation?.['x-permission'] ?? 'METER_DATA.CREATE').toMatch(/\.(VIEW|CREATE|UPDATE|DELETE)$/)
  const described = (operation?.parameters ?? []).filter((one: { in: string }) => one.in === 'query')
  expect(described.map((one: { name: string }) => one.name)).toEqual(expect.arrayContaining([...parameters]))
  expect(operation).toBeDefined()
})

describe('refused by name', () => {
  test('a cost prediction in a trace, and pages and filters that are none', async () => {
    const field = async (path: string) => {
      const { status, body } = await api.tenants.aLive.call('GET', path)
      return [status, body['field'] ?? body['code']]
    }
    expect(await field('/v1/events/x/event_trace?cost_prediction=true')).toEqual([400, 'cost_prediction'])
    expect(await field('/v1/events/x/event_trace?cost_prediction=false')).toEqual([404, 'RESOURCE_NOT_FOUND'])
    for (const path of ['/v1/events', '/v1/ingest/meter-data']) {
      expect(await field(`${path}?page=0`)).toEqual([400, 'page'])
      expect(await field(`${path}?limit=0`)).toEqual([400, 'limit'])
      expect(await field(`${path}?limit=101`)).toEqual([400, 'limit'])
      expect(await field(`${path}?limit=ten`)).toEqual([400, 'limit'])
      expect(await field(`${path}?deleted=yes`)).toEqual([400, 'deleted'])
      expect(await field(`${path}?processed_details_type=BILLED`)).toEqual([400, 'processed_details_type'])
      expect(await field(`${path}?expand[]=ALL&limit=100&page=1&deleted=false`)).toEqual([200, undefined])
    }
  })
})

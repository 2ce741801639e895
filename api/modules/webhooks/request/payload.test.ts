// The bytes of deliveries, row by row of the outbox. They are fixed when an event is created: an older row must give
// the same bytes in every later version, because attempts and signatures of one event may span an upgrade
// (docs/decisions/0021). When this test fails, add the new form beside the old one and choose between them by a column
// of the row.
import { expect, test } from 'vitest'
import { outboxRow, type StoredOutboxRow } from '../../../workers/outbox-row.ts'
import { payloadText } from './payload.ts'

const ROW: StoredOutboxRow = {
  platform_id: 'plat_1',
  environment: 'LIVE',
  id: 'evnt_1',
  type: 'CUSTOMER.CREATED',
  object_type: 'CUSTOMER',
  object_id: 'cust_1',
  data: {
    id: 'cust_1',
    name: 'Zoë "Z" \u2028 \\ </script>',
    tags: [],
    more: { '10': null, '9': true, a: 1.5, b: 1e21 },
  },
  data_changes: null,
  previous_data: null,
  former_values: null,
  metadata: null,
  request_id: 'reqr_1',
  actor_id: 'akey_1',
  impersonated_user_id: null,
  credential_id: null,
  ip: '127.0.0.1',
  idempotency_key: 'key',
  created_at: '2026-03-11T10:00:00.123456Z',
}
const bytesOf = (row: Partial<StoredOutboxRow>, withPrevious: boolean) =>
  payloadText(outboxRow({ ...ROW, ...row }), withPrevious)

const DATA = String.raw`{"id":"cust_1","name":"Zoë \"Z\" ${'\u2028'} \\ </script>","tags":[],"more":{"9":true,"10":null,"a":1.5,"b":1e+21}}`
/** A long resource as it was stored on the day on which they were first packed. */
const PACKED =
  'A2cFAICqqqrq/3RVoLMeTI8mp6NdDBTU5KAAoqoAaqoABqBgx5NdjgYHcPErTaWYwwFwJhQX+UJI8x5nwFNjUYSj/R+e0roiix0ZfaonbEidZq9n6DMQSjbrMakr2azHpG6XEQAg7w=='
const UNPACKED = `"name":"Zoë","more":{"9":true,"10":null},"text":"${'millrace '.repeat(300)}"`
const HEAD = '{"created_at":"2026-03-11T10:00:00Z","type":'

test.each<[string, Partial<StoredOutboxRow>, boolean, string]>([
  [
    'a creation',
    {},
    false,
    `${HEAD}"CUSTOMER.CREATED","original_request_id":"reqr_1","environment":"LIVE","data":${DATA}}`,
  ],
  [
    'a creation, with previous data',
    {},
    true,
    `${HEAD}"CUSTOMER.CREATED","original_request_id":"reqr_1","environment":"LIVE","data":${DATA}}`,
  ],
  [
    'what no request caused, in TEST',
    { request_id: null, environment: 'TEST', type: 'INVOICE.PAID', data: { a: '1' } },
    true,
    `${HEAD}"INVOICE.PAID","environment":"TEST","data":{"a":"1"}}`,
  ],
  [
    'an update',
    {
      type: 'CUSTOMER.UPDATED',
      data: { a: '2', b: { c: [1, { d: 'new' }], e: 0 } },
      former_values: [
        { path: ['a'], value: '1' },
        { path: ['b', 'c'], value: [1, { d: 'old' }] },
      ],
    },
    true,
    `${HEAD}"CUSTOMER.UPDATED","original_request_id":"reqr_1","environment":"LIVE","previous_data":{"a":"1","b":{"c":[1,{"d":"old"}],"e":0}},"data":{"a":"2","b":{"c":[1,{"d":"new"}],"e":0}}}`,
  ],
  [
    'an update, without previous data',
    { type: 'CUSTOMER.UPDATED', data: { a: '2' }, former_values: [{ path: ['a'], value: '1' }] },
    false,
    `${HEAD}"CUSTOMER.UPDATED","original_request_id":"reqr_1","environment":"LIVE","data":{"a":"2"}}`,
  ],
  [
    'an update whose resource another event of the same change holds',
    {
      type: 'CUSTOMER.UPDATED',
      data: { a: '3', b: { c: 2 } },
      data_changes: [{ path: ['a'], value: '2' }],
      former_values: [{ path: ['a'], value: '1' }],
    },
    true,
    `${HEAD}"CUSTOMER.UPDATED","original_request_id":"reqr_1","environment":"LIVE","previous_data":{"a":"1","b":{"c":2}},"data":{"a":"2","b":{"c":2}}}`,
  ],
  [
    'an update of before former values were kept',
    { type: 'CUSTOMER.UPDATED', data: { a: '2' }, previous_data: { a: '1' } },
    true,
    `${HEAD}"CUSTOMER.UPDATED","original_request_id":"reqr_1","environment":"LIVE","previous_data":{"a":"1"},"data":{"a":"2"}}`,
  ],
  [
    'what has metadata',
    { data: { a: '2' }, metadata: { workflow_id: 'wflo_1' } },
    false,
    `${HEAD}"CUSTOMER.CREATED","original_request_id":"reqr_1","environment":"LIVE","data":{"a":"2"},"metadata":{"workflow_id":"wflo_1"}}`,
  ],
  [
    'an update whose resource is packed',
    { type: 'CUSTOMER.UPDATED', data: PACKED, former_values: [{ path: ['id'], value: 'cust_0' }] },
    true,
    `${HEAD}"CUSTOMER.UPDATED","original_request_id":"reqr_1","environment":"LIVE","previous_data":{"id":"cust_0",${UNPACKED}},"data":{"id":"cust_1",${UNPACKED}}}`,
  ],
])('%s', (_name, row, withPrevious, bytes) => {
  expect(bytesOf(row, withPrevious)).toBe(bytes)
})

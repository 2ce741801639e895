// A customer that is forgotten while deliveries about it wait: they are sent as they were, in order, and the last says what is left.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Row } from '../../../testing/wire.ts'
import { type DeliveryRig, openDeliveryRig } from '../testing/delivery-rig.ts'
import { FAILED, OK, recordDeliveries } from '../testing/record-deliveries.ts'

let rig: DeliveryRig
const { book, begin, pass, read, send, tenant, webhook } = recordDeliveries(() => rig)
beforeAll(async () => {
  rig = await openDeliveryRig()
})
afterAll(() => rig?.close())
beforeEach(begin)

const PERSON = /ada@example\.com|Lovelace|Grace/

test('deliveries that wait hold up no forgetting, and are sent in order with it as the last', async () => {
  const types = ['CUSTOMER.CREATED', 'CUSTOMER.UPDATED', 'CONTACT.CREATED', 'CONTACT.DELETED']
  const { id: hook } = await webhook({ included_actions: types })
  const call = async (method: 'POST' | 'GET', path: string, body?: object): Promise<Row> => {
    const answer = await tenant().call(method, `/v1/${path}`, body)
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
    return answer.body
  }
  const individual = { name: { first_name: 'Ada', last_name: 'Lovelace' }, residential_address: { country: 'NL' } }
  const { id } = await call('POST', 'customers', {
    type: 'INDIVIDUAL',
    status: 'ACTIVE',
    email: 'ada@example.com',
    individual,
  })
  const contact = await call('POST', 'contacts', { customer_id: id, reference: 'grace', name: { first_name: 'Grace' } })
  await rig.relay()
  book.answers = () => FAILED
  await send()
  expect(book.sent.map(({ type }) => type)).toEqual(['CUSTOMER.CREATED'])

  await call('POST', `customers/${id}/archive`)
  const forgotten = await call('POST', `customers/${id}/forget`)
  await rig.relay()
  // The head of the queue is still the one that failed.
  expect(JSON.parse((await read(hook))['penalty_box_data'].payload)).toMatchObject({ type: 'CUSTOMER.CREATED' })

  book.answers = () => OK
  pass(2)
  await send()
  const sent = book.sent.slice(1).map(({ type, body }) => [type, JSON.parse(body).data])
  expect(sent.map(([type]) => type)).toEqual([
    'CUSTOMER.CREATED',
    'CONTACT.CREATED',
    'CUSTOMER.UPDATED',
    'CONTACT.DELETED',
    'CUSTOMER.UPDATED',
  ])
  expect(book.sent[1]?.body).toBe(book.sent[0]?.body)
  expect(sent[3]?.[1]).toMatchObject({ id: contact['id'] })
  expect(sent[4]?.[1]).toEqual(forgotten)
  expect(JSON.stringify(sent[4])).not.toMatch(PERSON)
  expect((await read(hook))['penalty_box_data']).toBeNull()
})

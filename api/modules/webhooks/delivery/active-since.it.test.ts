// From which change on a webhook gets events, with changes that have no place in the order yet when it is made or switched on.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { inTenant, SERVICE } from '../../../../shared/database/database.ts'
import { createResource } from '../../../resource/commands.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { type DeliveryRig, openDeliveryRig } from '../testing/delivery-rig.ts'
import { emailOf, FAILED, recordDeliveries, START } from '../testing/record-deliveries.ts'

let rig: DeliveryRig
const { book, begin, customer, names, pass, send, tenant, webhook } = recordDeliveries(() => rig)
beforeAll(async () => {
  rig = await openDeliveryRig()
})
afterAll(() => rig?.close())
beforeEach(async () => {
  await begin()
  await rig.api.sql('delete from outbox')
})

const change = async (id: unknown, body: object): Promise<void> => {
  expect((await tenant().call('PATCH', `/v1/webhooks/${id}`, body)).status).toBe(200)
}

/** The events of a webhook in the log: the name of the customer, and what became of the delivery. */
const logOf = async (id: unknown): Promise<string[]> => {
  const { body } = await tenant().call('GET', `/v1/webhook-events?webhook_id=${id}`)
  return body['data'].map(
    ({ payload, deliveries: [delivery] }: (typeof body)['data']) =>
      `${payload.data.email.split('@')[0]} ${delivery.status}`,
  )
}

/** Runs `during` while a transaction that has created a customer is open. */
const whileCreating = (name: string, during: () => Promise<void>): Promise<void> =>
  inTenant(rig.api.database, tenant().tenant, SERVICE, async uow => {
    await createResource(uow, customerResource, { type: 'INDIVIDUAL', email: emailOf(name) })
    await during()
  })

test('a webhook that is switched on gets nothing that was committed before, relayed or not', async () => {
  const { id } = await webhook()
  await change(id, { active: false })
  await customer('relayed')
  await rig.relay()
  await customer('not yet relayed')
  await change(id, { active: true })
  await customer('after')
  await rig.relay()
  expect(await logOf(id)).toEqual(['relayed FAILED', 'not-yet-relayed FAILED', 'after PENDING'])
  await send()
  expect(names()).toEqual(['after'])
  expect(await logOf(id)).toEqual(['relayed FAILED', 'not-yet-relayed FAILED', 'after SUCCEEDED'])
})

test('a webhook gets nothing that was committed before it was created, and its log has none of that', async () => {
  await customer('not yet relayed')
  const { id } = await webhook()
  await customer('after')
  await rig.relay()
  expect(await logOf(id)).toEqual(['after PENDING'])
  await send()
  expect(names()).toEqual(['after'])
  // Nor has it missed that.
  const from = new Date(START).toISOString()
  const replay = await tenant().call('POST', `/v1/webhooks/${id}/replay`, { from, scope: 'FAILED' })
  expect(replay.status).toBe(201)
  await send()
  expect(names()).toEqual(['after'])
})

test('what commits later is sent, though it was begun before the webhook was created or switched on', async () => {
  const off = await webhook()
  await change(off['id'], { active: false })
  let made = off
  await whileCreating('late', async () => {
    await customer('before')
    made = await webhook()
    await change(off['id'], { active: true })
  })
  await rig.relay()
  await send()
  expect(book.sent.map(({ path, name }) => [path, name]).toSorted()).toEqual(
    [off, made].map(({ url }) => [new URL(url).pathname, 'late']).toSorted(),
  )
  expect(await logOf(made['id'])).toEqual(['late SUCCEEDED'])
})

test('the payload that blocks a webhook is the event that is sent next', async () => {
  const { id } = await webhook()
  await change(id, { active: false })
  await customer('not yet relayed')
  await change(id, { active: true })
  await customer('after')
  await rig.relay()
  book.answers = () => FAILED
  await send()
  const { body } = await tenant().call('GET', `/v1/webhooks/${id}`)
  expect(JSON.parse(body['penalty_box_data'].payload).data.email).toBe(emailOf('after'))
})

test('a replay that begins as soon as the webhook is switched on sends what was committed before, too', async () => {
  const { id } = await webhook()
  await change(id, { active: false })
  const from = new Date(START).toISOString()
  await customer('relayed')
  await rig.relay()
  await customer('not yet relayed')
  await change(id, { active: true })
  expect((await tenant().call('POST', `/v1/webhooks/${id}/replay`, { from })).status).toBe(201)
  await customer('after')
  await rig.relay()
  await send()
  pass(1)
  await send()
  expect(names()).toEqual(['relayed', 'not-yet-relayed', 'after'])
})

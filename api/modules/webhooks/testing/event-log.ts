// The log of events in tests: webhooks to a receiver in this process, changes to record, and the list of events.
import type { Row } from '../../../testing/wire.ts'
import type { Post, PostOutcome } from '../request/post.ts'
import { openDeliveryRig } from './delivery-rig.ts'
import { startReceiver, status } from './receiver.ts'

export const START = Date.parse('2026-03-11T10:00:00Z')
export const FAILED: PostOutcome = {
  succeeded: false,
  responseCode: 503,
  cause: 'The endpoint answered 503.',
  durationMs: 5,
}
export const OK: PostOutcome = { succeeded: true, responseCode: 204, cause: null, durationMs: 5 }
export const answering =
  (outcome: PostOutcome): Post =>
  async () =>
    outcome
/** What is before the @ in the mail addresses of the customers in a list of events. */
export const emails = (body: Row): string[] =>
  body['data'].map((event: Row) => event['payload'].data.email?.split('@')[0])

export async function openEventLog() {
  const receiver = await startReceiver()
  const rig = await openDeliveryRig()
  const tenant = rig.api.tenants.aLive
  const call = async (method: string, url: string, body?: object): Promise<Row> =>
    (await tenant.call(method, url, body)).body
  const list = (query = '') => call('GET', `/v1/webhook-events?${query}`)
  async function webhook(more: object = {}): Promise<Row> {
    const made = await tenant.call('POST', '/v1/webhooks', {
      reference: tenant.seed.unique('hook'),
      name: 'Hook',
      url: receiver.urlOf('/hook'),
      included_actions: ['CUSTOMER.CREATED', 'CUSTOMER.UPDATED'],
      ...more,
    })
    if (made.status !== 201) throw new Error(JSON.stringify(made.body))
    await rig.relay()
    return made.body
  }
  async function customer(email: string, of = tenant): Promise<Row> {
    const made = await of.call('POST', '/v1/customers', { type: 'INDIVIDUAL', email: `${email}@example.com` })
    if (made.status !== 201) throw new Error(JSON.stringify(made.body))
    return made.body
  }
  return {
    rig,
    receiver,
    tenant,
    call,
    list,
    webhook,
    customer,
    /** Nothing is left of the test before. */
    reset: async () => {
      rig.api.clock.set(START)
      await rig.api.sql('delete from webhooks; delete from outbox')
      receiver.received.length = 0
      receiver.answer(status(200))
    },
    close: async () => {
      await rig.close()
      await receiver.close()
    },
  }
}

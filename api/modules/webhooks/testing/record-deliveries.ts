// Deliveries that are recorded instead of made, by a clock that the test sets.
import type { Row } from '../../../testing/wire.ts'
import type { Post, PostOutcome } from '../request/post.ts'
import type { WebhookRequest } from '../request/request.ts'
import type { DeliveryRig } from './delivery-rig.ts'

export const START = Date.parse('2026-03-11T10:00:00Z')
export const MINUTE_MS = 60_000
export const OK: PostOutcome = { succeeded: true, responseCode: 200, cause: null, durationMs: 5 }
export const FAILED: PostOutcome = {
  succeeded: false,
  responseCode: 503,
  cause: 'The endpoint answered 503.',
  durationMs: 5,
}

/** What was sent: to which address, as which event, with which type and object, and when. */
export type Sent = { path: string; eventId: string; type: string; name: string; at: number; body: string }

/** The book of one file, and its verbs. `rigOf` is asked when they are used; call `begin` before each test. */
export function recordDeliveries(rigOf: () => DeliveryRig) {
  const book = { sent: [] as Sent[], answers: (_request: Sent): PostOutcome => OK, now: START }
  let counter = 0
  const post: Post = async ({ url, headers, body }: WebhookRequest) => {
    const { type, data } = JSON.parse(body)
    const one = {
      path: new URL(url).pathname,
      eventId: String(headers['X-EVENT-ID']),
      type,
      name: nameOf(data),
      at: book.now,
      body,
    }
    book.sent.push(one)
    return book.answers(one)
  }
  const tenant = () => rigOf().api.tenants.aLive
  return {
    book,
    post,
    tenant,
    begin: async () => {
      await rigOf().api.sql('delete from webhooks')
      // The changes of the previous test get their places now, not in the next.
      await rigOf().relay()
      rigOf().api.clock.set(START)
      Object.assign(book, { sent: [], answers: () => OK, now: START })
    },
    pass: (minutes: number): void => {
      book.now += minutes * MINUTE_MS
      rigOf().api.clock.set(book.now)
    },
    send: (more = {}) => rigOf().send({ post, ...more }),
    webhook: async (more: object = {}): Promise<Row> => {
      counter += 1
      const { status, body } = await tenant().call('POST', '/v1/webhooks', {
        reference: `hook-${counter}`,
        name: 'Hook',
        url: `https://hooks.example.com/${counter}`,
        included_actions: ['CUSTOMER.CREATED', 'CUSTOMER.UPDATED'],
        ...more,
      })
      if (status !== 201) throw new Error(JSON.stringify(body))
      return body
    },
    read: async (id: unknown): Promise<Row> => (await tenant().call('GET', `/v1/webhooks/${id}`)).body,
    customer: async (name: string, of = tenant()): Promise<Row> => {
      const { status, body } = await of.call('POST', '/v1/customers', { type: 'INDIVIDUAL', email: emailOf(name) })
      if (status !== 201) throw new Error(JSON.stringify(body))
      return body
    },
    names: () => book.sent.map(({ name }) => name),
  }
}

// The name of a customer in these tests is its e-mail address, which may change and need not be unique.
export const emailOf = (name: string): string => `${name.replaceAll(' ', '-')}@example.com`
export const nameOf = (data: Row): string => String(data['email']).split('@')[0] ?? ''

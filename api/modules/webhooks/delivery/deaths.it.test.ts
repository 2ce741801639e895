// Deliveries while workers die, sleep and compete, with a real database: nothing is lost, and the order holds.
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createFailpoints } from '../../../../shared/failpoint.ts'
import { runJob } from '../../../jobs/testing/run-job.ts'
import type { Post } from '../request/post.ts'
import { type DeliveryRig, openDeliveryRig } from '../testing/delivery-rig.ts'
import { FAILED, OK, recordDeliveries } from '../testing/record-deliveries.ts'
import { webhookJobs } from './jobs.ts'
import { sendDue } from './sender.ts'

let rig: DeliveryRig
const { book, begin, customer, names, pass, post, send, webhook } = recordDeliveries(() => rig)
beforeAll(async () => {
  rig = await openDeliveryRig()
})
afterAll(() => rig?.close())
beforeEach(begin)

describe('whatever dies, and however many workers there are', () => {
  test.each(['webhooks.before-record', 'webhooks.after-record'])(
    'a worker that dies at %s repeats with the same ids and loses nothing',
    async point => {
      await webhook()
      for (const name of ['a', 'b']) await customer(name)
      await rig.relay()
      await expect(send({ failpoints: createFailpoints(`${point}:error`) })).rejects.toThrow('failpoint')
      await customer('c')
      await rig.relay()
      // Its lease keeps others from the queue until it ends.
      pass(0.5)
      await send()
      pass(1)
      await send()
      const first = point === 'webhooks.before-record' ? ['a', 'b', 'a', 'b', 'c'] : ['a', 'b', 'c']
      expect(names()).toEqual(first)
      expect(new Set(book.sent.map(({ eventId }) => eventId)).size).toBe(3)
    },
  )

  test('a worker that wakes up after its lease records nothing over the one that took it', async () => {
    await webhook()
    await customer('a')
    await rig.relay()
    let wake = (): void => undefined
    const asleep = new Promise<void>(resolve => {
      wake = resolve
    })
    const slow = sendDue({ ...rig.deps, post: () => asleep.then(() => FAILED) }, false)
    await expect.poll(() => rig.api.sql(`select 1 from webhook_queues where fence = 1`)).toHaveLength(1)
    pass(2)
    await send()
    expect(names()).toEqual(['a'])
    wake()
    await slow
    expect(await rig.api.sql('select failures, next_attempt_at from webhook_queues')).toEqual([
      { failures: 0, next_attempt_at: null },
    ])
  })

  test('an event committed while its queue is being sent is sent next, without waiting for another', async () => {
    await webhook()
    await customer('a')
    await rig.relay()
    const during: Post = async request => {
      if (book.sent.length === 0) {
        await customer('b')
        await rig.relay()
      }
      return post(request)
    }
    await rig.send({ post: during })
    expect(names()).toEqual(['a', 'b'])
  })

  test('a webhook that was not woken is found', async () => {
    await webhook()
    await customer('a')
    await rig.relay()
    await rig.api.sql('update webhook_queues set next_attempt_at = null')
    await send()
    expect(names()).toEqual([])
    await runJob(webhookJobs, 'find-waiting-webhooks', rig.jobDeps)
    await send()
    expect(names()).toEqual(['a'])
    // A queue without matching events moves on.
    await webhook({ included_actions: ['INVOICE.PAID'] })
    await customer('b')
    await rig.relay()
    await runJob(webhookJobs, 'find-waiting-webhooks', rig.jobDeps)
    await send()
    expect(await rig.api.sql('select 1 from webhook_queues where next_attempt_at is not null')).toEqual([])
  })

  test('each webhook gets the order of commits, with repeats and nothing missing, whatever fails and dies', async () => {
    const failure = fc.constantFrom('no', 'no', 'answer', 'before-record', 'after-record')
    await fc.assert(
      fc.asyncProperty(fc.array(failure, { minLength: 5, maxLength: 12 }), async faults => {
        await rig.api.sql('delete from webhooks')
        book.sent = []
        const hooks = [await webhook(), await webhook()]
        const made: string[] = []
        for (const fault of faults) {
          const name = `n${made.length}`
          made.push(name)
          await customer(name)
          await rig.relay()
          book.answers = () => (fault === 'answer' && book.sent.length % 2 === 0 ? FAILED : OK)
          const dies = fault.endsWith('record') ? { failpoints: createFailpoints(`webhooks.${fault}:error`) } : {}
          await send(dies).catch(() => undefined)
          pass(3)
        }
        book.answers = () => OK
        // Long enough for the last failure, and for the last lease.
        for (let round = 0; round < 3; round += 1) {
          pass(600)
          await send()
        }
        for (const hook of hooks) {
          const own = book.sent.filter(({ path }) => hook['url'].endsWith(path)).map(({ name }) => made.indexOf(name))
          // Each event is the next one, or one that was sent before.
          let highest = -1
          for (const index of own) {
            expect(index).toBeLessThanOrEqual(highest + 1)
            highest = Math.max(highest, index)
          }
          expect(highest).toBe(made.length - 1)
        }
      }),
      { numRuns: 8 },
    )
  })
})

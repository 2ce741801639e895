// Which subscriptions are issued together and which by themselves, whatever happens meanwhile: a run that dies, two at once, a lock, and one
// that cannot be billed.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inTenant, SERVICE } from '../../../../../shared/database/database.ts'
import { AppError } from '../../../../../shared/errors.ts'
import { createFailpoints } from '../../../../../shared/failpoint.ts'
import { idOf } from '../../../../../shared/ids.ts'
import type { TestTenant } from '../../../../testing/harness.ts'
import { lockSubscription } from '../../../subscriptions/billing-time/next-billing.ts'
import type { Billed } from '../../testing/billed-subscription.ts'
import type { BillingDeps } from '../compute-invoice.ts'
import { runGroup } from '../group/run-group.ts'
import { runBilling } from '../run-billing.ts'
import { APRIL, type CombiningRig, FINAL, idsOfBilled, MARCH, startCombining } from './testing/combining-rig.ts'

let rig: CombiningRig
let tenant: TestTenant
beforeAll(async () => {
  rig = await startCombining()
  tenant = rig.tenant
})
afterAll(() => rig?.api.close())

describe('is issued by itself', () => {
  const alone = expect.not.objectContaining({ combined_invoice_ids: expect.anything() })

  test('a subscription without combine, an invoice made FINAL by hand and an invoice on hold are not combined', async () => {
    const pairs = [await rig.subscribed(), await rig.subscribed(), await rig.subscribed()] as const
    await rig.run(pairs.flat(), MARCH)
    await rig.run(pairs.flat(), APRIL)
    const [switched, byHand, held] = pairs.map(([one]) => one) as [Billed, Billed, Billed]
    const draftOf = async (one: Billed) => (await rig.invoicesOf(one, 'DRAFT'))[0]?.['id']
    await rig.patch(`pricing-plan-subscriptions/${switched.subscriptionId}`, { combine: false })
    await rig.patch(`invoices/${await draftOf(byHand)}`, { status: 'FINAL' })
    await rig.patch(`invoices/${await draftOf(held)}`, { on_hold: true })
    await rig.run(pairs.flat(), FINAL)
    const finals = await Promise.all(pairs.flat().map(each => rig.invoicesOf(each, 'FINAL')))
    expect(finals).toEqual([[alone], [alone], [alone], [alone], [], [alone]])
  })

  test('one that can be billed, while the other cannot', async () => {
    const all = await rig.subscribed()
    await rig.run(all, MARCH)
    await rig.run(all, APRIL)
    const [broken, sound] = all
    let fault = new Error('connection reset')
    const reading: BillingDeps = {
      ...rig.deps,
      usage: {
        ...rig.deps.usage,
        read: async (who, parts, need) => {
          if (need.calculation.meter_reference === broken.meterReference) throw fault
          return rig.deps.usage.read(who, parts, need)
        },
      },
    }
    // A connection that was lost may be there in a minute: they wait.
    expect([...(await rig.run([sound], FINAL, reading)).values()].map(({ kind }) => kind).toSorted()).toEqual([
      'ALONE',
      'FAILED',
    ])
    expect(await rig.invoicesOf(sound, 'FINAL')).toEqual([])
    await expect(runBilling(reading, tenant.tenant, sound.subscriptionId)).rejects.toThrow(broken.subscriptionId)
    const [waiting] = await rig.invoicesOf(sound, 'DRAFT')
    const details = `It waits for the subscription ${broken.subscriptionId}, with which it is combined and which cannot be billed: the reason is in the log of the worker. It is issued without it from 2026-04-03T00:00:00Z on. To issue it before, make it FINAL.`
    expect(waiting?.['validation_result']).toContainEqual({ status: 'WARNING', details })
    fault = new AppError('INVALID_OPERATION', 'This usage cannot be billed.')
    const outcomes = await rig.run([sound], FINAL, reading)
    expect([outcomes.get(broken.subscriptionId)?.kind, outcomes.get(sound.subscriptionId)?.kind]).toEqual([
      'FAILED',
      'DONE',
    ])
    expect(await rig.finalOf(sound)).toEqual(alone)
    await rig.run([broken], FINAL)
    expect(await rig.finalOf(broken)).toEqual(alone)
    expect((await rig.finalOf(sound))['validation_result']).not.toContainEqual({ status: 'WARNING', details })
  })

  test('one whose other cannot be billed, a day after it first waited for it', async () => {
    const all = await rig.subscribed()
    await rig.run(all, MARCH)
    await rig.run(all, APRIL)
    const [broken, sound] = all
    const reading: BillingDeps = {
      ...rig.deps,
      usage: {
        ...rig.deps.usage,
        read: async (who, parts, need) => {
          if (need.calculation.meter_reference === broken.meterReference) throw new Error('broken for good')
          return rig.deps.usage.read(who, parts, need)
        },
      },
    }
    // Late for days already, because nothing was run.
    for (const time of ['2026-04-05T12:00:00Z', '2026-04-06T11:59:59Z']) {
      await rig.run(all, time, reading)
      await expect(runBilling(reading, tenant.tenant, sound.subscriptionId)).rejects.toThrow(broken.subscriptionId)
      expect(await rig.invoicesOf(sound, 'FINAL')).toEqual([])
    }
    const outcomes = await rig.run(all, '2026-04-06T12:00:00Z', reading)
    expect(all.map(({ subscriptionId }) => outcomes.get(subscriptionId)?.kind)).toEqual(['FAILED', 'DONE'])
    expect(await rig.finalOf(sound)).toEqual(alone)
  })
})

test('invoices that are made at different times become FINAL at the later of them', async () => {
  const [one, other] = await rig.subscribed()
  await rig.run([one], APRIL)
  const made = '2026-04-01T05:00:00Z'
  await rig.run([other], made)
  const timeOf = async (each: Billed) => (await rig.invoicesOf(each, 'DRAFT'))[0]?.['finalize_at']
  const [own, later] = [await timeOf(one), await timeOf(other)]
  expect(own < later).toBe(true)
  await rig.run([one], own)
  expect([await timeOf(one), await timeOf(other)]).toEqual([later, later])
  await rig.run([one, other], FINAL)
  expect(await rig.finalOf(one)).toEqual(await rig.finalOf(other))
})

test.each(['invoices.before-numbers', 'billing.after-commit'])(
  'a run that dies at %s is repeated: there is one invoice, and no number is missing',
  async name => {
    const all = await rig.subscribed()
    const failing = { ...rig.deps, failpoint: createFailpoints(`${name}:error`) }
    for (const time of [MARCH, APRIL, FINAL]) {
      await rig.run(all, time, failing).catch(() => undefined)
      for (const one of all) expect((await rig.run([one], time)).get(one.subscriptionId)?.kind).toBe('DONE')
    }
    expect(await rig.finalOf(all[0])).toEqual(await rig.finalOf(all[1]))
  },
)

test('two workers at once give one invoice', async () => {
  const all = await rig.subscribed()
  await rig.run(all, MARCH)
  await rig.run(all, APRIL)
  rig.setTime(FINAL)
  await Promise.all(idsOfBilled(all).map(id => runBilling(rig.deps, tenant.tenant, id)))
  const [one, other] = await Promise.all(all.map(rig.finalOf))
  expect(one?.['combined_invoice_ids']).toHaveLength(2)
  expect(other).toEqual(one)
})

test('one that is locked keeps the other for later, so that they are issued together', async () => {
  const [held, free] = await rig.subscribed()
  await rig.run([held, free], MARCH)
  await rig.run([held, free], APRIL)
  rig.setTime(FINAL)
  const outcomes = await inTenant(rig.api.database, tenant.tenant, SERVICE, async uow => {
    await lockSubscription(uow, idOf('ppsu', held.subscriptionId))
    return await runGroup(rig.deps, tenant.tenant, idsOfBilled([held, free]))
  })
  expect([...outcomes.values()].map(({ kind }) => kind)).toEqual(['ALONE', 'ALONE'])
  await runBilling(rig.deps, tenant.tenant, free.subscriptionId)
  expect(await rig.finalOf(held)).toEqual(await rig.finalOf(free))
})

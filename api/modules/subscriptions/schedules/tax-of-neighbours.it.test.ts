// Plans with prices excluding and including tax in one subscription: one invoice could not have both.
import { expect, test } from 'vitest'
import { refusal } from '../../../testing/catalog.ts'
import type { Row } from '../../../testing/wire.ts'
import { salesRig } from '../../billing/testing/sales-rig.ts'

const { patch, post, sales, setTime, tenant, unique } = salesRig()

/** The id of an ACTIVE version of a new plan. */
async function versionOf(amount_type: 'EXCLUDING_TAX' | 'INCLUDING_TAX'): Promise<string> {
  const plan = await post('pricing-plans', { reference: unique('plan'), amount_type })
  const version = await post('pricing-plan-versions', { pricing_plan_id: plan['id'] })
  const product = await post('products', { reference: unique('base'), name: 'Base', status: 'ACTIVE' })
  await sales.feePricing(version['id'], product, '10')
  await patch(`pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })
  return version['id']
}

type Planned = readonly [amount_type: 'EXCLUDING_TAX' | 'INCLUDING_TAX', more?: Row]
const STARTS = ['2026-03-01T00:00:00Z', '2026-03-11T00:00:00Z', '2026-03-21T00:00:00Z']

/** Plans these schedules one after the other; what the last one is answered, and the ids of those before. */
async function planned(all: readonly Planned[]) {
  setTime('2026-03-01T01:00:00Z')
  const subscription = await sales.subscription()
  const ids: string[] = []
  for (const [index, [amount_type, more = {}]] of all.entries()) {
    const body = {
      pricing_plan_subscription_id: subscription['id'],
      pricing_plan_version_id: await versionOf(amount_type),
      start_at: STARTS[index],
      ...(index + 1 < all.length ? { end_at: STARTS[index + 1] } : {}),
      ...more,
    }
    const answer = await tenant.call('POST', '/v1/pricing-plan-schedules', body)
    if (index + 1 === all.length) return { answer, ids }
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
    ids.push(answer.body['id'])
  }
  throw new Error('there is a last one')
}

const TRIAL = { type: 'TRIAL' }

test.each<[string, readonly Planned[]]>([
  ['one follows the other', [['EXCLUDING_TAX'], ['INCLUDING_TAX']]],
  ['the other way round', [['INCLUDING_TAX'], ['EXCLUDING_TAX']]],
  ['a free trial is between them', [['EXCLUDING_TAX'], ['INCLUDING_TAX', TRIAL], ['INCLUDING_TAX']]],
])('refused where %s, naming the schedule', async (_title, all) => {
  const { answer, ids } = await planned(all)
  expect(refusal(answer)).toEqual([400, 'INVALID_FIELD', 'pricing_plan_version_id'])
  expect(answer.body['message']).toContain(ids[0])
})

test.each<[string, readonly Planned[]]>([
  ['all include tax', [['INCLUDING_TAX'], ['INCLUDING_TAX']]],
  ['the one before is a free trial', [['INCLUDING_TAX', TRIAL], ['EXCLUDING_TAX']]],
])('taken where %s', async (_title, all) => {
  expect((await planned(all)).answer.status).toBe(201)
})

// A schedule that `copy` or `migrate` makes, starting in the middle of a period that is charged ahead (semantics 4.3).
import { expect, test } from 'vitest'
import type { Row } from '../../../../testing/wire.ts'
import { invoiceLines } from '../../testing/sales.ts'
import { salesRig } from '../../testing/sales-rig.ts'

const { bill, get, patch, post, sales, setTime, unique } = salesRig()

const SCHEDULES = 'pricing-plan-schedules'
const AHEAD = { billing_in_advance: true }

test.each(['copy', 'migrate'])(
  '%s charges from its start on, and credits no days that were charged ahead',
  async how => {
    setTime('2026-03-01T01:00:00Z')
    const { id: planId } = await post('pricing-plans', { reference: unique('plan') })
    const product = await post('products', { reference: unique('desk'), name: 'Desk', status: 'ACTIVE' })
    const versions: string[] = []
    for (const price of ['31', '62']) {
      const version = await post('pricing-plan-versions', { pricing_plan_id: planId })
      await sales.feePricing(version['id'], product, price, {}, AHEAD)
      await patch(`pricing-plan-versions/${version['id']}`, { status: 'ACTIVE' })
      versions.push(version['id'])
    }
    const { id } = await sales.subscription()
    const first = await post(SCHEDULES, {
      pricing_plan_subscription_id: id,
      pricing_plan_version_id: versions[0],
      start_at: '2026-03-01T00:00:00Z',
    })
    await patch(`pricing-plan-subscriptions/${id}`, { status: 'ACTIVE' })
    await bill(id, '2026-03-01T02:00:00Z', '2026-03-02T02:00:00Z')
    setTime('2026-03-11T00:00:00Z')
    const next = await post(`${SCHEDULES}/${first['id']}/${how}?set_previous_end_at=true`, {
      start_at: '2026-03-16T00:00:00Z',
      ...(how === 'migrate' ? { pricing_plan_version_id: versions[1] } : {}),
    })
    await post(`${SCHEDULES}/${next['id']}/activate`, undefined)
    await bill(id, '2026-04-01T01:00:00Z', '2026-04-02T01:00:00Z')
    const { data } = await get(`invoices?pricing_plan_subscription_id=${id}&include_lines=true`)
    const final: Row[] = data.filter(({ status }: Row) => status === 'FINAL')
    const [rest, month] = how === 'copy' ? ['16.00', '31.00'] : ['32.00', '62.00']
    expect(final.flatMap(invoiceLines).toSorted()).toEqual([
      '2026-03-01..2026-04-01 31.00',
      `2026-03-16..2026-04-01 ${rest}`,
      `2026-04-01..2026-05-01 ${month}`,
    ])
  },
)

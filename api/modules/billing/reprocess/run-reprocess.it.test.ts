// How a reprocess starts, and how it ends: an interrupted run continues where it stopped.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { AppError } from '../../../../shared/errors.ts'
import { succeed } from '../testing/billed-subscription.ts'
import { NOW, ofCustomer, openReprocessRig } from './testing/reprocess-rig.ts'

let rig: Awaited<ReturnType<typeof openReprocessRig>>
beforeAll(async () => {
  rig = await openReprocessRig()
})
afterAll(() => rig?.api.close())
beforeEach(() => rig.reset())

describe('a reprocess', () => {
  test('that is stopped half-way shows its progress, and continues there', async () => {
    const some = [await rig.billed(), await rig.billed(), await rig.billed(), await rig.billed()]
    rig.said.tokens = '2000000'
    const made = await rig.create({ type: 'NOT_MATCHED' })
    const others = await rig.api.sql(`select count(*)::int as n from invoices where status in ('OPEN', 'DRAFT')`)
    const total: number = others[0]?.['n']
    let left = 2
    const failpoint = async (name: string) => {
      if (name === 'reprocess.after-item') left -= 1
      if (left === 0) throw new Error('killed')
    }
    await expect(rig.run(made['id'], { deps: { failpoint } })).rejects.toThrow('killed')
    const percentage = Math.floor(200 / total)
    expect(await rig.read(made['id'])).toMatchObject({ status: 'IN_PROGRESS', percentage })
    const facts = await succeed(rig.tenant, 'GET', `/v1/platforms/${rig.tenant.tenant.platformId}/up-to-date`)
    expect(facts).toMatchObject({
      invoices_to_be_reprocessed: total - 2,
      reprocess: { in_progress: true, in_error: false, items_scheduled: total - 2 },
    })
    const done = await rig.api.sql(`select invoice_id from reprocess_items where status = 'DONE'`)
    rig.said.tokens = '3000000'
    await rig.run(made['id'])
    expect(await rig.read(made['id'])).toMatchObject({ status: 'DONE', percentage: 100 })
    // The invoices done before the stop were not computed again.
    for (const { invoice } of some) {
      const before = done.some(row => row['invoice_id'] === invoice)
      expect(await rig.amountOf(invoice)).toBe(before ? '30.00' : '45.00')
    }
  })

  test('waits for accepted usage; when it never arrives the last try ends the reprocess', async () => {
    const own = await rig.billed()
    rig.said.tokens = '2000000'
    rig.said.complete = false
    const made = await rig.create(ofCustomer(own))
    await expect(rig.run(made['id'])).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(await rig.read(made['id'])).toMatchObject({ status: 'IN_PROGRESS', percentage: 0 })
    await expect(rig.run(made['id'], { last: true })).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(await rig.read(made['id'])).toMatchObject({ status: 'ERROR', percentage: 0, finished_at: NOW })
    expect((await rig.read(made['id']))['message']).toMatch(/usage/)
    expect(await rig.invoiceOf(own.invoice)).toMatchObject({
      to_be_reprocessed: false,
      invoice_amount_excluding_tax: { quantity: '15.00' },
    })
    const { reprocess } = await succeed(rig.tenant, 'GET', `/v1/platforms/${rig.tenant.tenant.platformId}/up-to-date`)
    expect(reprocess).toMatchObject({ in_progress: false, in_error: true })
  })

  test('an invoice that cannot be computed is named, and delays no other', async () => {
    const [broken, sound] = [await rig.billed(), await rig.billed()]
    rig.said.tokens = '2000000'
    rig.said.faults.set(broken.customerId, new AppError('INVALID_OPERATION', 'The price cannot be read.'))
    const made = await rig.create({ type: 'NOT_MATCHED' })
    await rig.run(made['id'])
    const ended = await rig.read(made['id'])
    expect(ended).toMatchObject({ status: 'ERROR', percentage: 100 })
    expect(ended['message']).toBe(`1 could not be computed; ${broken.invoice}: The price cannot be read.`)
    expect([await rig.amountOf(broken.invoice), await rig.amountOf(sound.invoice)]).toEqual(['15.00', '30.00'])
  })

  test('starts after the delay of the platform', async () => {
    const own = await rig.billed()
    const url = `/v1/platforms/${rig.tenant.tenant.platformId}`
    const settings = { reprocessing_settings: { default_delay: { type: 'MINUTE', value: 90 } } }
    expect(await succeed(rig.tenant, 'PATCH', url, settings)).toMatchObject(settings)
    const made = await rig.create(ofCustomer(own))
    expect(made['scheduled_at']).toBe('2026-03-20T01:30:00Z')
    expect((await rig.invoiceOf(own.invoice))['to_be_reprocessed_at']).toBe('2026-03-20T01:30:00Z')
    await succeed(rig.tenant, 'PATCH', url, { reprocessing_settings: null })
    const refused = await rig.tenant.call('PATCH', url, {
      reprocessing_settings: { default_delay: { type: 'DAY', value: 1 } },
    })
    expect(refused.body).toMatchObject({ code: 'INVALID_FIELD', field: 'reprocessing_settings.default_delay.type' })
  })

  test('is started by a new end of a live schedule, once for any number of changes', async () => {
    const own = await rig.billed()
    const { data } = await succeed(
      rig.tenant,
      'GET',
      `/v1/pricing-plan-schedules?pricing_plan_subscription_id=${own.subscriptionId}`,
    )
    const url = `/v1/pricing-plan-schedules/${data[0].id}`
    for (const end_at of ['2026-06-01T00:00:00Z', '2026-05-01T00:00:00Z'])
      await succeed(rig.tenant, 'PATCH', url, { end_at })
    await succeed(rig.tenant, 'PATCH', url, { end_at: '2026-05-01T00:00:00Z' })
    const { data: waiting } = await succeed(rig.tenant, 'GET', '/v1/reprocess')
    expect(waiting).toMatchObject([
      {
        type: 'CUSTOMER',
        automatic: true,
        status: 'SCHEDULED',
        customer: { customer_id: own.customerId },
        scheduled_at: '2026-03-20T00:00:10Z',
      },
    ])
  })

  test('is started by the next schedule when it ends the live one', async () => {
    const own = await rig.billed()
    const of = `pricing_plan_subscription_id=${own.subscriptionId}`
    const { data } = await succeed(rig.tenant, 'GET', `/v1/pricing-plan-schedules?${of}`)
    await succeed(rig.tenant, 'POST', '/v1/pricing-plan-schedules?set_previous_end_at=true', {
      pricing_plan_subscription_id: own.subscriptionId,
      pricing_plan_version_id: data[0].pricing_plan_version_id,
      start_at: '2026-03-25T00:00:00Z',
    })
    const { data: waiting } = await succeed(rig.tenant, 'GET', '/v1/reprocess')
    expect(waiting).toMatchObject([{ type: 'CUSTOMER', automatic: true, customer: { customer_id: own.customerId } }])
  })
})

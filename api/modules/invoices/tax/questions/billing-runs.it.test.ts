// Billing runs whose tax an engine outside decides.
import { expect, test } from 'vitest'
import { NoTaxAnswer, type TaxEngine } from '../../../../../shared/billing/tax/tax-engine.ts'
import { readTenant } from '../../../../../shared/database/database.ts'
import { idOf } from '../../../../../shared/ids.ts'
import { silentLogger } from '../../../../../shared/process/logger.ts'
import { openTestDatabase } from '../../../../../shared/testing/database-logins.ts'
import { systemClock } from '../../../../../shared/time.ts'
import { prepareJobSchema } from '../../../../jobs/job-schema.ts'
import { refusal, succeed } from '../../../../testing/calls.ts'
import type { Row } from '../../../../testing/wire.ts'
import { repriceInvoice } from '../../../billing/corrections/reprice-invoice.ts'
import { loadStates } from '../../../billing/run/state/subscription-state.ts'
import { billedSubscription } from '../../../billing/testing/billed-subscription.ts'
import { dropTaxAnswersJobs, dropUnusedAnswers } from './drop-jobs.ts'
import { findTaxQuestions } from './jobs.ts'
import { engineRig, first, json, QUEBEC, shown, taxed } from './testing/engine-rig.ts'

const rig = engineRig()
const { ask, run, setTime, subscribed, work } = rig

test('waits for the answer, asks once, and keeps it: what the engine says later changes nothing that is FINAL', async () => {
  setTime('2026-03-10T12:00:00Z')
  const billed = await subscribed('2026-03-01T00:00:00Z')
  setTime('2026-03-11T12:00:00Z')
  await billed.run()
  await billed.run()
  expect(shown(await first(billed))).toEqual({
    ...{ status: 'DRAFT', tax: '0.00', rates: [] },
    errors: [
      expect.stringMatching(
        /^The tax engine has not said what tax applies on 2026-03-01\. It is asked in the background/,
      ),
    ],
  })
  expect(rig.asked).toEqual([])

  // The advance invoice of March, and the one of its end with the fee of April.
  expect(await ask()).toBe(2)
  expect(rig.asked.map(({ body }) => body['question'].date).sort()).toEqual(['2026-03-01', '2026-03-31'])
  expect(rig.asked[0]).toMatchObject({
    authorization: 'Bearer shared secret',
    body: {
      platform_id: rig.tenant.tenant.platformId,
      environment: 'TEST',
      question: {
        version: 1,
        tax_category: 'STANDARD',
        seller: { id: billed.billing_entity_id, address: { country: 'CA', state: 'ON' } },
        buyer: { id: billed.customerId, address: { ...QUEBEC, line2: null }, tax_exempt: false },
      },
    },
  })
  expect(shown(await first(billed))).toEqual({
    status: 'DRAFT',
    tax: '14.98',
    rates: ['GST 5.00', 'QST 9.98'],
    errors: [],
  })
  // The answer for the end of March may change until that day, so the engine is asked again only then.
  expect(await ask()).toBe(0)

  setTime('2026-03-11T20:00:00Z')
  await billed.run()
  const issued = await first(billed)
  expect(shown(issued)).toEqual({ status: 'FINAL', tax: '14.98', rates: ['GST 5.00', 'QST 9.98'], errors: [] })
  rig.say = taxed(['GST', '7'])
  const verified = await succeed(rig.tenant, 'POST', `/v1/invoices/${issued['id']}/verify`)
  expect(verified).toMatchObject({ identical: true })

  // On its day it is asked again, and the invoice has the tax of its day.
  setTime('2026-04-01T01:00:00Z')
  await billed.run()
  const [, draft] = await billed.invoices()
  expect(shown(draft as Row)).toMatchObject({ status: 'DRAFT', tax: '14.98', errors: [] })
  setTime('2026-04-01T09:00:00Z')
  await billed.run()
  const warnings = async () => {
    const { status, validation_result } = (await billed.invoices())[1] as Row
    const faults = validation_result.map((each: Row) => `${each['status']} ${each['details']}`)
    return [status, ...faults.filter((text: string) => text.includes('tax engine'))]
  }
  expect(await warnings()).toEqual([
    'DRAFT',
    'WARNING The tax engine is asked once more about the tax of 2026-03-31; until it answers, the invoice cannot become FINAL.',
  ])
  rig.say = json(422, { message: 'No such place.' })
  await ask()
  await billed.run()
  expect(await warnings()).toEqual([
    'DRAFT',
    expect.stringMatching(/^WARNING The tax engine is asked once more .* The tax engine says: No such place\.$/),
  ])
  rig.say = taxed(['GST', '7'])
  await rig.api.sql(`update tax_answers set next_attempt_at = null where customer_id = $1`, [billed.customerId])
  await ask()
  await billed.run()
  const [, april] = await billed.invoices()
  expect(shown(april as Row)).toEqual({ status: 'FINAL', tax: '7.00', rates: ['GST 7.00'], errors: [] })
  for (const { id } of (await billed.invoices()).slice(0, 2))
    expect(await succeed(rig.tenant, 'POST', `/v1/invoices/${id}/verify`)).toMatchObject({ identical: true })
  // One that is billed again may tax what the original did not: nothing was asked then.
  const pinned = (await rig.api.sql('select inputs from pinned_inputs where invoice_id = $1', [issued['id']]))[0]?.[
    'inputs'
  ]
  const without = JSON.stringify({ ...JSON.parse(String(pinned)), tax_answers: [] })
  await rig.api.sql('update pinned_inputs set inputs = $2 where invoice_id = $1', [issued['id'], without])
  const again = await repriceInvoice(work(), rig.tenant.tenant, idOf('invo', String(issued['id'])))
  expect(again.price([]).priced.columns.tax_amount).toBe('14.98')
  await rig.api.sql('update pinned_inputs set inputs = $2 where invoice_id = $1', [issued['id'], pinned])
  const [lines] = (await succeed(rig.tenant, 'GET', `/v1/invoices/${issued['id']}`))['periods'][0].groups
  const why = await succeed(rig.tenant, 'GET', `/v1/invoices/${issued['id']}/lines/${lines.lines[0].id}/explanation`)
  expect(why['taxes']).toMatchObject([{ treatment: 'TAX_ENGINE', source: 'Tax engine' }])
})

test('tells once that an invoice of the day it becomes FINAL waits, however often it runs', async () => {
  const platform = `/v1/platforms/${rig.tenant.tenant.platformId}`
  setTime('2026-03-10T12:00:00Z')
  const billed = await subscribed('2026-03-01T00:00:00Z')
  await succeed(rig.tenant, 'PATCH', platform, {
    invoice_settings: { invoice_date_determination_type: 'WHEN_INVOICE_GOES_TO_FINAL' },
  })
  try {
    await billed.run()
    await ask()
    const { id } = await first(billed)
    setTime('2026-03-11T20:00:00Z')
    await billed.run()
    const notices = async () => (await rig.api.sql('select type from outbox where object_id = $1', [id])).length
    const before = await notices()
    for (const minute of [1, 2]) {
      setTime(`2026-03-11T20:0${minute}:00Z`)
      await billed.run()
    }
    expect(await notices()).toBe(before)
    expect(shown(await first(billed)).errors).toEqual([expect.stringMatching(/on 2026-03-11\./)])
    await ask()
    await billed.run()
    expect(shown(await first(billed))).toMatchObject({ status: 'FINAL', tax: '14.98' })
  } finally {
    await succeed(rig.tenant, 'PATCH', platform, {
      invoice_settings: { invoice_date_determination_type: 'AT_END_OF_BILLING_PERIOD' },
    })
  }
})

test('another engine is one value; a US sale then needs no percentage', async () => {
  setTime('2026-03-10T12:00:00Z')
  const tiny: TaxEngine = {
    name: 'by state',
    ask: async ({ buyer }) => {
      if (buyer.address.state !== 'CA') throw new NoTaxAnswer('Only California is known.')
      const rates = [{ name: 'Sales tax', percentage: '7.25' }]
      return {
        treatment: 'TAXED',
        rates,
        taxable_percentage: '100',
        note: null,
        registration_country: null,
        source: null,
      }
    },
  }
  const billed = await billedSubscription(rig.tenant, { start_at: '2026-03-01T00:00:00Z', fee: '100', activate: false })
  const url = `/v1/pricing-plan-subscriptions/${billed.subscriptionId}`
  const { billing_entity_id } = await succeed(rig.tenant, 'GET', url)
  const registered_address = { country: 'US', state: 'CA' }
  await succeed(rig.tenant, 'PATCH', `/v1/customers/${billed.customerId}`, { organization: { registered_address } })
  await succeed(rig.tenant, 'PATCH', `/v1/billing-entities/${billing_entity_id}`, { registered_address })
  expect(await refusal(rig.tenant, 'PATCH', url, { status: 'ACTIVE' })).toEqual([
    400,
    'MISSING_FIELD',
    'sales_tax_percentage',
  ])
  await succeed(rig.tenant, 'PATCH', `/v1/billing-entities/${billing_entity_id}`, {
    tax_settings: { provider: 'EXTERNAL' },
  })
  await succeed(rig.tenant, 'PATCH', url, { status: 'ACTIVE' })
  await run(billed.subscriptionId)
  expect(await ask(tiny)).toBe(2)
  const list = `/v1/invoices?pricing_plan_subscription_id=${billed.subscriptionId}&order_by=created_at&order_direction=asc`
  const [invoice] = (await succeed(rig.tenant, 'GET', list))['data']
  expect(shown(invoice)).toMatchObject({ tax: '7.25', rates: ['Sales tax 7.25'], errors: [] })
})

test('the advance of a test clock asks on the way, and issues what it passes', async () => {
  setTime('2026-03-10T12:00:00Z')
  const billed = await subscribed('2026-03-01T00:00:00Z', 'EXTERNAL', {}, '2026-03-01T00:00:00Z')
  const advanced = await succeed(rig.tenant, 'POST', `/v1/test-clocks/${billed.clock}/advance`, {
    frozen_time: '2026-04-03T00:00:00Z',
  })
  expect(advanced).toMatchObject({ complete: true, failures: [] })
  const issued = { tax: '14.98', rates: ['GST 5.00', 'QST 9.98'], errors: [] }
  expect((await billed.invoices()).map(shown)).toEqual([
    { ...issued, status: 'FINAL' },
    { ...issued, status: 'FINAL' },
    { ...issued, status: 'OPEN' },
  ])
})

const ONCE = { attempt: 1, attemptsMax: 1, workerId: 'test', stop: new AbortController().signal }
/** Connected as the worker is. */
const worker = async () => {
  await prepareJobSchema(rig.api.databaseUrl)
  return await openTestDatabase({
    ...{ url: rig.api.databaseUrl, role: 'millrace_worker', clock: systemClock, logger: silentLogger, poolMax: 1 },
  })
}
const queuedFor = async (task: string): Promise<string> => {
  const found = await rig.api.sql('select key from graphile_worker.jobs where task_identifier = $1', [task])
  return found.map(({ key }) => String(key)).join(' ')
}

test('the search for questions works in the role of the worker', async () => {
  setTime('2026-03-10T12:00:00Z')
  const billed = await subscribed('2026-03-01T00:00:00Z')
  await billed.run()
  const system = await worker()
  await findTaxQuestions.run({ ...work(), system }, {}, ONCE)
  await system.close()
  expect(await queuedFor('query-tax-engine')).toContain(rig.tenant.tenant.platformId)
})

test('drops answers that no OPEN or DRAFT invoice needs any more, and reads none from before the first of them', async () => {
  setTime('2026-01-10T12:00:00Z')
  const billed = await subscribed('2026-01-01T00:00:00Z')
  const kept = async () =>
    (
      await rig.api.sql('select on_day::text from tax_answers where customer_id = $1 order by on_day', [
        billed.customerId,
      ])
    ).map(({ on_day }) => String(on_day))
  await billed.run()
  await ask()
  const days = ['2026-01-01', '2026-01-31']
  expect(await kept()).toEqual(days)
  // Both are used by invoices that are not FINAL, however old they are.
  await rig.api.sql(`update tax_answers set needed_on = '2020-01-01' where customer_id = $1`, [billed.customerId])
  const drop = () => dropUnusedAnswers(work(), rig.tenant.tenant, { aborted: false })
  await drop()
  expect(await kept()).toEqual(days)
  setTime('2026-01-11T12:00:00Z')
  await billed.run()
  const january = await first(billed)
  expect(january['status']).toBe('FINAL')
  const used = async (): Promise<string[]> => {
    const state = await readTenant(rig.api.database, rig.tenant.tenant, uow => loadStates(uow, [billed.subscriptionId]))
    return (state.get(billed.subscriptionId)?.inputs.tax_answers ?? []).map(({ on }) => on)
  }
  // The one in hand starts with February, or ends January.
  await rig.api.sql(
    `insert into tax_answers select platform_id, environment, 'other', customer_id, billing_entity_id, '2025-12-28', question, needed_on,
      answer, as_of, null, 0, null, created_at from tax_answers where customer_id = $1 and on_day = '2026-01-01'`,
    [billed.customerId],
  )
  expect(await used()).toEqual(days)
  const system = await worker()
  const [findOldTaxAnswers] = dropTaxAnswersJobs
  await findOldTaxAnswers.run({ ...work(), system }, {}, ONCE)
  await system.close()
  expect(await queuedFor('drop-tax-answers')).toContain(rig.tenant.tenant.platformId)
  expect(await drop()).toBeGreaterThanOrEqual(2)
  expect(await kept()).toEqual(['2026-01-31'])
  expect(await drop()).toBe(0)
  // What is FINAL, or corrected, has what it used with it.
  expect(await succeed(rig.tenant, 'POST', `/v1/invoices/${january['id']}/verify`)).toMatchObject({ identical: true })
  const again = await repriceInvoice(work(), rig.tenant.tenant, idOf('invo', String(january['id'])))
  expect(again.price([]).priced.columns.tax_amount).toBe('14.98')
})

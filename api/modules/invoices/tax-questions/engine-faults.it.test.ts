// A tax engine that is slow, wrong, down or not there, and what is forgotten.
import { expect, test } from 'vitest'
import type { EngineQuestion, TaxEngine } from '../../../../shared/billing/tax-engine.ts'
import { refusal, succeed } from '../../../testing/calls.ts'
import { startApi } from '../../../testing/harness.ts'
import { NO_USAGE } from '../../billing/testing/no-usage.ts'
import { queryOnce } from '../tax-answers/query-engine.ts'
import { engineRig, first, json, QUEBEC, type Say, shown, taxed, WORKSHOP } from './testing/engine-rig.ts'

const rig = engineRig()
const { ask, setTime, subscribed, work } = rig

test.each<[string, Say, RegExp]>([
  ['answers 500', json(500, { secret: 'inner' }), /answered with the status 500\.$/],
  ['refuses', json(422, { message: 'The postal code is unknown.' }), /says: The postal code is unknown\.$/],
  ['answers no JSON', response => void response.end('<html>'), /it is not a JSON object\.$/],
  ['answers with a wrong rate', taxed(['VAT', '-1']), /rates\.0\.percentage is not a percentage/],
  [
    'redirects',
    response => void response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    /status 302\.$/,
  ],
  ['hangs up', response => void response.destroy(), /could not be reached \(/],
])('stays a DRAFT that says why while the engine %s, and holds up nobody else', async (_, fault, reason) => {
  rig.say = fault
  setTime('2026-03-10T12:00:00Z')
  const [held, free] = [await subscribed('2026-03-01T00:00:00Z'), await subscribed('2026-03-01T00:00:00Z', null)]
  for (const each of [held, free]) await each.run()
  await ask()
  setTime('2026-03-10T21:00:00Z')
  for (const each of [held, free]) await each.run()
  expect(shown(await first(held))).toEqual({
    status: 'DRAFT',
    tax: '0.00',
    rates: [],
    errors: [expect.stringMatching(reason)],
  })
  expect(shown(await first(free))).toMatchObject({ status: 'FINAL', errors: [] })
  // It is left alone for a while, and asked again then.
  rig.asked.length = 0
  expect(await ask()).toBe(0)
  expect(rig.asked).toEqual([])
  rig.say = taxed(['VAT', '20'])
  await rig.api.sql(`update tax_answers set next_attempt_at = now() - interval '1 second' where customer_id = $1`, [
    held.customerId,
  ])
  await ask()
  await held.run()
  expect(shown(await first(held))).toMatchObject({ status: 'FINAL', tax: '20.00', errors: [] })
})

test('asks on after many refusals, and gives up only on an engine that is down', async () => {
  setTime('2026-03-10T12:00:00Z')
  const { customerId, billing_entity_id } = await subscribed('2026-03-01T00:00:00Z')
  const parties = { customer_id: customerId, billing_entity_id }
  const days = Array.from({ length: 24 }, (_, day) => `2024-05-${String(day + 1).padStart(2, '0')}T00:00:00Z`)
  for (const invoice_date of days)
    await succeed(rig.tenant, 'POST', '/v1/invoices', { ...parties, invoice_date, lines: [WORKSHOP] })
  await rig.api.sql(
    `update tax_answers set next_attempt_at = 'infinity' where customer_id <> $1 and platform_id = $2`,
    [...[customerId, rig.tenant.tenant.platformId]],
  )
  const again = () => rig.api.sql('update tax_answers set next_attempt_at = null where customer_id = $1', [customerId])
  rig.say = json(500, {})
  await ask()
  expect(rig.asked.length).toBeLessThan(days.length)
  await again()
  rig.asked.length = 0
  rig.say = json(422, { message: 'Unknown.' })
  await ask()
  expect(rig.asked).toHaveLength(days.length)
})

test('does not wait for an engine that says nothing, nor one that ignores its deadline', async () => {
  rig.say = () => undefined
  setTime('2026-03-10T12:00:00Z')
  const billed = await subscribed('2026-03-01T00:00:00Z')
  await billed.run()
  const [row] = await rig.api.sql('select key, question from tax_answers where customer_id = $1 order by on_day', [
    billed.customerId,
  ])
  const deaf: TaxEngine = { name: 'deaf', ask: () => new Promise(() => undefined) }
  const open = { key: row?.['key'] as string, question: row?.['question'] as EngineQuestion }
  for (const taxEngine of [rig.engine, deaf]) {
    const { signal } = new AbortController()
    const of = { asOf: '2026-03-10' as never, ms: 100, signal, keepsFaults: true }
    const outcome = await queryOnce({ database: rig.api.database, taxEngine }, rig.tenant.tenant, open, of)
    expect(outcome.fault?.message).toBe('The tax engine did not answer in time.')
  }
  await billed.run()
  expect(shown(await first(billed)).errors).toEqual([expect.stringMatching(/did not answer in time\.$/)])
})

test('an installation without an engine refuses it by name, and one that lost it issues nothing', async () => {
  setTime('2026-03-10T12:00:00Z')
  const billed = await subscribed('2026-03-01T00:00:00Z')
  await billed.run()
  await ask(null)
  expect(shown(await first(billed)).errors).toEqual([expect.stringMatching(/This installation has no tax engine/)])
  const without = await startApi({ usage: NO_USAGE })
  try {
    const other = without.tenants.aTest
    const { id } = await succeed(other, 'POST', '/v1/billing-entities', { reference: other.seed.unique('main') })
    const external = { tax_settings: { provider: 'EXTERNAL' } }
    expect(await refusal(other, 'PATCH', `/v1/billing-entities/${id}`, external)).toEqual([
      400,
      'INVALID_FIELD',
      'tax_settings.provider',
    ])
    await succeed(other, 'PATCH', `/v1/billing-entities/${id}`, { tax_settings: { provider: 'BUILT_IN' } })
  } finally {
    await without.close()
  }
})

test('a customer that is forgotten leaves no question behind', async () => {
  setTime('2026-03-10T12:00:00Z')
  const customer = await succeed(rig.tenant, 'POST', '/v1/customers', {
    ...{ type: 'ORGANIZATION', status: 'ACTIVE', reference: rig.tenant.seed.unique('gone') },
    organization: { legal_name: 'Gone', registered_address: QUEBEC },
  })
  const { billing_entity_id } = await subscribed('2026-03-01T00:00:00Z')
  const lines = [
    { pricing_name: 'Workshop', pricing_type: 'FIXED', pricing_band: { amount: { quantity: '1', currency: 'EUR' } } },
  ]
  const { id } = await succeed(rig.tenant, 'POST', '/v1/invoices', {
    customer_id: customer['id'],
    billing_entity_id,
    lines,
  })
  const kept = () => rig.api.sql('select key from tax_answers where customer_id = $1', [customer['id']])
  expect(await kept()).toHaveLength(1)
  const [asked] = await rig.api.sql('select key, question from tax_answers where customer_id = $1', [customer['id']])
  await succeed(rig.tenant, 'POST', `/v1/invoices/${id}/void`)
  await succeed(rig.tenant, 'POST', `/v1/customers/${customer['id']}/archive`)
  await succeed(rig.tenant, 'POST', `/v1/customers/${customer['id']}/forget`)
  expect(await kept()).toEqual([])
  // What was in flight meanwhile is not kept either.
  const open = { key: asked?.['key'] as string, question: asked?.['question'] as EngineQuestion }
  for (const answers of [rig.say, json(500, {})]) {
    rig.say = answers
    const { signal } = new AbortController()
    await queryOnce(work(), rig.tenant.tenant, open, {
      asOf: '2026-03-10' as never,
      ms: 5_000,
      signal,
      keepsFaults: true,
    })
    expect(await kept()).toEqual([])
  }
})

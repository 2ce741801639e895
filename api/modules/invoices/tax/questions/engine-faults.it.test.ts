// A tax engine that is slow, wrong, down or not there, and what is forgotten.
import { expect, test } from 'vitest'
import type { EngineQuestion, TaxEngine } from '../../../../../shared/billing/tax/tax-engine.ts'
import { inTenant, SERVICE } from '../../../../../shared/database/database.ts'
import { AppError } from '../../../../../shared/errors.ts'
import { refusal, succeed } from '../../../../testing/calls.ts'
import { startApi } from '../../../../testing/harness.ts'
import type { Row } from '../../../../testing/wire.ts'
import { NO_USAGE } from '../../../billing/testing/no-usage.ts'
import type { InvoiceProducer } from '../../producer.ts'
import { queryOnce } from '../answers/query-engine.ts'
import { enqueueTaxQuestions } from '../answers/store-answers.ts'
import { processTaxQuestions } from './jobs.ts'
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

/** One-off invoices of one customer, each of a day of its own: as many questions. */
async function waiting(count: number) {
  setTime('2026-03-10T12:00:00Z')
  const { customerId, billing_entity_id } = await subscribed('2026-03-01T00:00:00Z')
  await rig.api.sql(`update tax_answers set next_attempt_at = 'infinity', to_compute = false where platform_id = $1`, [
    rig.tenant.tenant.platformId,
  ])
  const parties = { customer_id: customerId, billing_entity_id, lines: [WORKSHOP] }
  const add = async (day: number): Promise<string> => {
    const invoice_date = `2024-06-0${day}T00:00:00Z`
    return (await succeed(rig.tenant, 'POST', '/v1/invoices', { ...parties, invoice_date }))['id']
  }
  const ids: string[] = []
  for (let day = 1; day <= count; day += 1) ids.push(await add(day))
  const tax = async (id: string | undefined) => shown(await succeed(rig.tenant, 'GET', `/v1/invoices/${id}`)).tax
  /** As if the pause were over. */
  const pauseEnds = () =>
    rig.api.sql(
      'update tax_answers set compute_at = null where customer_id = $1 and compute_at is not null returning key',
      [customerId],
    )
  return { customerId, ids, add, tax, pauseEnds }
}

/** As the job of the tenant, with `before` in front of the computation of each invoice. Returns what it logged, but for errors. */
async function askWith(before: (id: string) => Promise<void>): Promise<unknown[]> {
  const logged: unknown[] = []
  const deps = work()
  const producers = deps.producers.map((each: InvoiceProducer) => ({
    ...each,
    recompute: async (...[of, save]: Parameters<InvoiceProducer['recompute']>) => {
      await before(of.row.id)
      return await each.recompute(of, save)
    },
  }))
  const warn = (...[of, text]: readonly unknown[]) => void logged.push([(of as Row)['invoiceId'], text])
  const logger = { warn }
  await processTaxQuestions(
    { ...deps, producers: producers as InvoiceProducer[], logger },
    rig.tenant.tenant,
    new AbortController().signal,
  )
  return logged
}
const pause = (ms: number) => new Promise<void>(resolve => void setTimeout(resolve, ms))
const TRIED_AGAIN = 'an invoice could not be computed with its tax; it is tried again'

test('computes several invoices at a time, and asks on meanwhile', async () => {
  const { ids, add, tax } = await waiting(4)
  let [now, most] = [0, 0]
  await askWith(async () => {
    now += 1
    most = Math.max(most, now)
    await pause(50)
    now -= 1
  })
  expect(most).toBeGreaterThan(1)
  expect(await Promise.all(ids.map(tax))).toEqual(ids.map(() => '29.95'))
  // One that takes long to compute, whose answer came in a call of a user, and another question.
  await rig.api.sql(
    'update tax_answers set to_compute = true where key in (select content ->> $1 from invoices where id = $2)',
    [...['tax_key', ids[0]]],
  )
  await rig.api.sql(
    `update invoices set content = content || jsonb_build_object('tax_question', (
    select jsonb_build_object('key', t.key, 'question', t.question, 'as_of', null) from tax_answers t
    where t.key = content ->> 'tax_key')) where id = $1`,
    [ids[0]],
  )
  const last = await add(5)
  rig.asked.length = 0
  const askedMeanwhile: boolean[] = []
  await askWith(async id => {
    if (id !== ids[0]) return
    for (let each = 0; each < 40 && rig.asked.length === 0; each += 1) await pause(50)
    askedMeanwhile.push(rig.asked.length > 0)
  })
  expect(askedMeanwhile).toEqual([true])
  expect(await tax(last)).toBe('29.95')
})

test('computes later what a service away kept from being computed', async () => {
  const { ids, tax, pauseEnds } = await waiting(1)
  const away = async () => {
    throw new AppError('SERVICE_UNAVAILABLE', 'Usage cannot be read now; send it again.')
  }
  expect(await askWith(away)).toEqual([[ids[0], TRIED_AGAIN]])
  expect(await tax(ids[0])).toBe('0.00')
  expect(await pauseEnds()).toHaveLength(1)
  await ask()
  expect(await tax(ids[0])).toBe('29.95')
  expect(await pauseEnds()).toHaveLength(0)
})

test('an invoice that cannot be computed holds up no other and no question, and is computed after a pause', async () => {
  const { ids, add, tax, pauseEnds } = await waiting(2)
  const [broken, sound] = ids
  const breaks = async (id: string) => {
    if (id === broken) throw new Error('the line is of no other line')
  }
  expect(await askWith(breaks)).toEqual([[broken, TRIED_AGAIN]])
  expect([await tax(broken), await tax(sound)]).toEqual(['0.00', '29.95'])
  const third = await add(3)
  expect(await askWith(breaks)).toEqual([])
  expect(await tax(third)).toBe('29.95')
  expect(await pauseEnds()).toHaveLength(1)
  await ask()
  expect(await tax(broken)).toBe('29.95')
})

test('an invoice that was saved while its answer came is computed with it', async () => {
  const { customerId, ids } = await waiting(1)
  await ask()
  const [row] = await rig.api.sql(
    `select t.key, t.question, t.as_of::text, v.timezone from tax_answers t
    join invoices v on v.content ->> 'tax_key' = t.key where v.id = $1`,
    [ids[0]],
  )
  const marked = async (as_of: string | null) => {
    const open = { key: row?.['key'] as string, question: row?.['question'] as EngineQuestion, as_of }
    const saved = { status: 'DRAFT', timezone: row?.['timezone'], content: { tax_question: open } }
    await inTenant(rig.api.database, rig.tenant.tenant, SERVICE, uow =>
      enqueueTaxQuestions(uow, [saved as unknown as Parameters<typeof enqueueTaxQuestions>[1][number]]),
    )
    const found = await rig.api.sql('select to_compute from tax_answers where customer_id = $1 and key = $2', [
      ...[customerId, open.key],
    ])
    return found.map(({ to_compute }) => to_compute)
  }
  expect(await marked(row?.['as_of'] as string)).toEqual([false])
  expect(await marked(null)).toEqual([true])
})

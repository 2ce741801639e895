// What an invoice bills and what the trace of an event says of it are one set, whatever is stored while its figures are
// read: at each call of the reader in turn, events are let in before it and after it.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { runBilling } from '../../../api/modules/billing/run/run-billing.ts'
import { type Billed, billedSubscription, succeed } from '../../../api/modules/billing/testing/billed-subscription.ts'
import type { UsageReader } from '../../../api/modules/billing/usage/usage-reader.ts'
import type { TestTenant } from '../../../api/testing/harness.ts'
import type { Row } from '../../../api/testing/wire.ts'
import { type EventsRig, ms, NOW, openEventsRig, START, tokensOf } from './rig.ts'

let rig: EventsRig
let tenant: TestTenant
beforeAll(async () => {
  rig = await openEventsRig()
  tenant = rig.tenant
})
afterAll(() => rig?.close())
afterEach(() => rig.api.clock.set(NOW))

const PRICE = { pricing_type: 'FLAT', bands: [{ amount: { quantity: '1', currency: 'EUR' } }] }

type Moment = { readonly call: keyof UsageReader; readonly when: 'before' | 'after' }

/** The reader, with something done at every call of one kind. */
function readerAt(usage: UsageReader, { call, when }: Moment, act: () => Promise<void>): UsageReader {
  const around = async <T>(name: keyof UsageReader, ask: () => Promise<T>): Promise<T> => {
    if (name === call && when === 'before') await act()
    const answer = await ask()
    if (name === call && when === 'after') await act()
    return answer
  }
  // In a quiet log nothing is waited for, and no change is looked for.
  const isBusy = call === 'settle' || call === 'changedSince'
  return {
    ...usage,
    progress: clock =>
      around('progress', async () => {
        const progress = await usage.progress(clock)
        return isBusy ? { ...progress, isComplete: false } : progress
      }),
    endsAt: positions => around('endsAt', async () => !isBusy && (await usage.endsAt(positions))),
    read: (...args) => around('read', () => usage.read(...args)),
    readByCustomer: (...args) => around('readByCustomer', () => usage.readByCustomer(...args)),
    settle: timeoutMs => around('settle', () => usage.settle(timeoutMs)),
    changedSince: (...args) => around('changedSince', () => usage.changedSince(...args)),
  }
}

async function invoicesOf(of: Billed): Promise<Row[]> {
  const url = `/v1/invoices?pricing_plan_subscription_id=${of.subscriptionId}`
  const { data } = await succeed(tenant, 'GET', url)
  return await Promise.all(data.map((row: Row) => succeed(tenant, 'GET', `/v1/invoices/${row['id']}`)))
}

/** What each invoice asks for, by its id: at a price of 1, how much usage. */
async function billedOf(of: Billed): Promise<Map<string, number>> {
  const asked = (await invoicesOf(of)).map(({ id, periods }): [string, number] => [
    id,
    periods.reduce((sum: number, period: Row) => sum + Number(period['amount_excluding_tax'].quantity), 0),
  ])
  return new Map(asked.filter(([, quantity]) => quantity > 0))
}

/** As billedOf, of each customer its sub lines name, by the ids of both. */
async function billedPartsOf(of: Billed): Promise<Map<string, number>> {
  const parts = new Map<string, number>()
  for (const { id, periods } of await invoicesOf(of)) {
    const lines = periods.flatMap((period: Row) => period['groups'].flatMap((group: Row) => group['lines']))
    for (const { processing_only_customer_id: customer, details } of lines.flatMap((line: Row) => line['sub_lines'])) {
      const key = `${id} ${customer}`
      parts.set(key, (parts.get(key) ?? 0) + Number(details.amount.quantity))
    }
  }
  return new Map([...parts].filter(([, quantity]) => quantity !== 0))
}

/** What the traces say: by invoice, how much of the events is on it. `keyOf`: by what more, given the reference. */
async function tracedOf(
  sent: ReadonlyMap<string, number>,
  keyOf: (invoice: string, reference: string) => string = invoice => invoice,
): Promise<Map<string, number>> {
  const traced = new Map<string, number>()
  const trace = (reference: string) => succeed(tenant, 'GET', `/v1/events/${reference}/event_trace`)
  const traces = await Promise.all([...sent.keys()].map(trace))
  for (const [place, [reference, quantity]] of [...sent].entries()) {
    const { links } = traces[place] ?? {}
    expect(links).toHaveLength(1)
    const key = keyOf(links[0].invoice_id, reference)
    traced.set(key, (traced.get(key) ?? 0) + quantity)
  }
  return traced
}

const MOMENTS: Moment[] = (['settle', 'progress', 'endsAt', 'changedSince', 'read'] as const).flatMap(call => [
  { call, when: 'before' },
  { call, when: 'after' },
])

/** Closes March and April while events of March come at that moment, each of the customer `customerOf` names; what was sent. */
async function closeWhileSending(
  own: Billed,
  moment: Moment,
  customerOf: (place: number) => Pick<Billed, 'customerReference'> = () => own,
): Promise<Map<string, number>> {
  const sent = new Map<string, number>()
  const send = async (): Promise<void> => {
    const place = sent.size
    const reference = rig.reference()
    // No two sums of them are the same.
    const quantity = 2 ** place
    sent.set(reference, quantity)
    const late = { ...tokensOf({ ...own, ...customerOf(place) }, reference), quantity: String(quantity) }
    await rig.send({ ...late, timestampMs: ms('2026-03-04T00:00:00Z') + place, receivedAtMs: rig.api.clock.now() })
  }
  const usage = readerAt(rig.billing.usage, moment, send)
  const bill = async (day: string, reader: UsageReader): Promise<void> => {
    rig.api.clock.set(ms(day))
    await runBilling({ ...rig.billing, usage: reader }, tenant.tenant, own.subscriptionId)
  }
  await send()
  // March and then April close, with late usage of March in the second as well.
  for (const day of ['2026-04-01T01:00:00Z', '2026-04-02T00:00:00Z', '2026-05-01T01:00:00Z', '2026-05-02T00:00:00Z']) {
    await bill(day, usage)
  }
  await bill('2026-05-02T01:00:00Z', rig.billing.usage)
  // Only an invoice that closes asks whether the log still ends there.
  expect(sent.size).toBeGreaterThan(moment.call === 'endsAt' ? 2 : 4)
  return sent
}

test.each(MOMENTS)('events that are stored $when every call of $call', async moment => {
  const own = await billedSubscription(tenant, { start_at: START, ...PRICE })
  const sent = await closeWhileSending(own, moment)
  expect(await tracedOf(sent)).toEqual(await billedOf(own))
})

test.each([
  { call: 'progress', when: 'after' },
  { call: 'readByCustomer', when: 'before' },
  { call: 'readByCustomer', when: 'after' },
] as const)('events of customers with sub lines that are stored $when every call of $call', async moment => {
  const own = await billedSubscription(tenant, {
    start_at: START,
    subscription: { display_invoice_sub_lines_per_processing_only_customer: true },
    ...PRICE,
  })
  const parent = { id: own.customerId, customerReference: own.customerReference }
  const family = [parent, await childOf(own), await childOf(own)]
  const memberAt = (place: number) => family[place % family.length] ?? parent
  const sent = await closeWhileSending(own, moment, memberAt)
  const ids = new Map([...sent.keys()].map((reference, place) => [reference, memberAt(place).id]))
  expect(await tracedOf(sent)).toEqual(await billedOf(own))
  const parts = await billedPartsOf(own)
  expect(parts.size).toBeGreaterThan(family.length)
  expect(await tracedOf(sent, (invoice, reference) => `${invoice} ${ids.get(reference)}`)).toEqual(parts)
})

/** A customer that only processes for the one that pays. */
async function childOf(of: Billed): Promise<{ id: string; customerReference: string }> {
  const customerReference = tenant.seed.unique('child')
  const { id } = await succeed(tenant, 'POST', '/v1/customers', {
    reference: customerReference,
    type: 'ORGANIZATION',
    status: 'ACTIVE',
    organization: { legal_name: 'Child', registered_address: { country: 'NL' } },
    parent_customer_id: of.customerId,
    roles: ['PROCESSING_ONLY'],
  })
  return { id, customerReference }
}

test('usage whose marks are not there in time is read from rows, to the same positions', async () => {
  const own = await billedSubscription(tenant, { start_at: START, ...PRICE })
  const sent = new Map<string, number>()
  const send = async (quantity: number): Promise<void> => {
    const reference = rig.reference()
    sent.set(reference, quantity)
    await rig.send({ ...tokensOf(own, reference), quantity: String(quantity) })
  }
  await send(1)
  rig.api.clock.set(ms('2026-04-01T01:00:00Z'))
  await runBilling(rig.billing, tenant.tenant, own.subscriptionId)
  rig.api.clock.set(ms('2026-04-02T00:00:00Z'))
  let settles = 0
  const bounds: (readonly number[] | undefined)[] = []
  const usage: UsageReader = {
    ...rig.billing.usage,
    settle: async timeoutMs => {
      settles += 1
      return settles === 1 ? await rig.billing.usage.settle(timeoutMs) : false
    },
    read: async (of, parts, need, upTo) => {
      bounds.push(upTo)
      if (upTo === undefined) await send(2)
      return await rig.billing.usage.read(of, parts, need, upTo)
    },
  }
  await runBilling({ ...rig.billing, usage }, tenant.tenant, own.subscriptionId)
  expect(bounds.some(upTo => upTo !== undefined)).toBe(true)
  await runBilling(rig.billing, tenant.tenant, own.subscriptionId)
  const billed = await billedOf(own)
  expect([...billed.values()].sort()).toEqual([1, 2 * (sent.size - 1)].sort())
  expect(await tracedOf(sent)).toEqual(billed)
})

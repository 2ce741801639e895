// Reading events by cursors while more come in: everything that was there when the reading began comes once, in order, whatever is
// asked for.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventLineOf } from '../../../aggregator/testing.ts'
import { succeed } from '../../../api/modules/billing/testing/billed-subscription.ts'
import type { Row } from '../../../api/testing/wire.ts'
import { type EventsRig, ms, openEventsRig } from './rig.ts'

let rig: EventsRig
const CUSTOMER = 'cursor-customer'
const METER = 'cursor-meter'

beforeAll(async () => {
  rig = await openEventsRig()
  const day = (index: number): number => ms('2026-03-02T00:00:00Z') + (index % 7) * 86_400_000
  const events = Array.from({ length: 30 }, (_, index) => ({
    reference: `cursor-${index}`,
    timestampMs: index % 5 === 0 ? ms('2024-01-01T00:00:00Z') : day(index),
    ...(index % 3 === 0 ? { customerKey: CUSTOMER } : {}),
    ...(index % 4 === 0 ? { meterReference: METER } : {}),
  }))
  // Repeats of one time and of another, so that the records of one reference stand together and apart.
  const repeats = [3, 3, 8, 14].map((index, turn) => ({
    ...events[index],
    reference: `cursor-${index}`,
    ...(turn === 3 ? { timestampMs: ms('2026-03-09T00:00:00Z') } : {}),
  }))
  await rig.send(...events, ...repeats)
})
afterAll(() => rig?.close())

const nameOf = ({ id, processed_details: { duplicate } }: Row): string =>
  duplicate ? `${id}.${duplicate.log_position}` : id
const namesOf = (body: Row): string[] => body['data'].map(nameOf)

async function readAll(url: string, direction: 'next' | 'previous', between: () => Promise<void>): Promise<string[]> {
  const names: string[] = []
  for (let at: string | null = url; at !== null; ) {
    const body: Row = await succeed(rig.tenant, 'GET', at)
    if (direction === 'next') names.push(...namesOf(body))
    else names.unshift(...namesOf(body))
    expect(body).not.toHaveProperty('page')
    expect(body['has_more']).toBe(body['links'][direction] !== null)
    at = body['links'][direction]
    await between()
  }
  return names
}

const FILTERS = [
  '',
  `customer_id=${CUSTOMER}`,
  `meter_id=${METER}`,
  'processed_details_type=DEFAULT',
  'processed_details_type=NOT_MATCHED',
  'processed_details_type=DUPLICATE',
  'deleted=false&timestamp=[2026-03-03T00:00:00Z,2026-03-07T00:00:00Z]',
]

test('lists of everything, which are read by time, say what the events themselves and lists of a customer say', async () => {
  const text = "a\"b\\c\n\t/é\u{1f600}\u0001 'x' {p0:String}"
  const odd = { customerKey: CUSTOMER, timestampMs: ms('2026-03-11T00:00:00.007Z') }
  await rig.send(
    { ...odd, reference: `odd ${text}`, quantity: '0.000000000001', properties: { [text]: text, kind: '' } },
    { ...odd, reference: 'odd-2', quantity: '-12345678901234567890.5', subscription: 'ref:somebody' },
  )
  // Sent again with another content: a repeat that says so.
  await rig.send({ ...odd, reference: 'odd-2', quantity: '7' })
  const everything: Row[] = (await rig.list('limit=100'))['data']
  expect(everything.length).toBeGreaterThan(30)
  expect(everything.some(each => each['reference'] === `odd ${text}`)).toBe(true)
  for (const each of everything.filter(one => one['processed_details'].duplicate === null))
    expect(await succeed(rig.tenant, 'GET', `/v1/events/${each['id']}`)).toEqual(each)
  const ofCustomer = everything.filter(each => each['customer_reference'] === CUSTOMER)
  expect((await rig.list(`limit=100&customer_id=${CUSTOMER}`))['data']).toEqual(ofCustomer)
  expect((await rig.list(`limit=100&customer_id=${CUSTOMER}&processed_details_type=DUPLICATE`))['data']).toEqual(
    ofCustomer.filter(each => each['processed_details'].type === 'DUPLICATE'),
  )
})

test('a list of a customer and a reference says the same each time', async () => {
  const of = { customerKey: 'twice-customer', timestampMs: ms('2026-03-12T00:00:00Z'), reference: 'twice' }
  await rig.send(of, of, of)
  for (const page of [1, 1, 2, 3]) {
    const answer = await rig.list(`limit=1&page=${page}&customer_id=twice-customer&reference=twice`)
    expect(answer).toMatchObject({ total_number_of_pages: 3, has_more: page < 3 })
    expect(answer['data'][0]['processed_details'].type).toBe(page === 1 ? 'NOT_MATCHED' : 'DUPLICATE')
  }
})

test('pages far from the beginning hold what cursors come to', async () => {
  const of = { ...rig.tenant.tenant, customerKey: 'deep-customer', meterReference: 'deep-meter' }
  // Some share a time.
  const lines = Array.from({ length: 560 }, (_, index) =>
    eventLineOf({ ...of, reference: `deep-${index}`, timestampMs: ms('2026-02-01T00:00:00Z') + Math.floor(index / 3) }),
  )
  await rig.aggregator.publish(lines)
  await rig.aggregator.settle()
  for (const filter of ['meter_id=deep-meter', 'customer_id=deep-customer']) {
    const [newest = ''] = namesOf(await rig.list(`${filter}&limit=1`))
    const url = `/v1/events?${filter}&limit=100&starting_after=${newest}`
    const all = [newest, ...(await readAll(url, 'next', () => Promise.resolve()))]
    expect(all.length).toBe(560)
    // One page twice: what was noted of the list is used then.
    for (const page of [2, 6, 6, 7]) {
      const answer = await rig.list(`${filter}&limit=100&page=${page}`)
      expect(namesOf(answer)).toEqual(all.slice((page - 1) * 100, page * 100))
      expect(answer).toMatchObject({ total_number_of_pages: 6, has_more: page < 6 })
    }
  }
})

describe('cursors', () => {
  let sent = 0
  const more = async (): Promise<void> => {
    sent += 1
    if (sent > 14) return
    const timestampMs = ms(sent % 2 === 0 ? '2023-06-01T00:00:00Z' : '2026-03-10T00:00:00Z') + sent
    await rig.send({ reference: `cursor-more-${sent}`, timestampMs })
  }

  test.each(FILTERS)('repeat nothing and leave nothing out while events come in: %s', async filter => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 4, max: 9 }), async limit => {
        const all = namesOf(await rig.list(`limit=100&${filter}`))
        expect(all.length).toBeGreaterThan(2)
        const [first = '', last = ''] = [all[0], all.at(-1)]
        const url = (cursor: string) => `/v1/events?${filter}&limit=${limit}&${cursor}`
        const forwards = [first, ...(await readAll(url(`starting_after=${encodeURIComponent(first)}`), 'next', more))]
        expect(new Set(forwards).size).toBe(forwards.length)
        expect(forwards.filter(name => all.includes(name))).toEqual(all)
        const back = [...(await readAll(url(`ending_before=${encodeURIComponent(last)}`), 'previous', more)), last]
        expect(new Set(back).size).toBe(back.length)
        expect(back.filter(name => all.includes(name))).toEqual(all)
      }),
      { numRuns: 1 },
    )
  })

  test('start at any record, and both ways meet', async () => {
    const all = namesOf(await rig.list('limit=100'))
    for (const [place, name] of all.entries()) {
      // The records of one time and reference, and some others.
      if (place % 4 !== 0 && !name.includes('.')) continue
      const cursor = encodeURIComponent(name)
      expect(namesOf(await rig.list(`limit=3&starting_after=${cursor}`))).toEqual(all.slice(place + 1, place + 4))
      expect(namesOf(await rig.list(`limit=3&ending_before=${cursor}`))).toEqual(
        all.slice(Math.max(0, place - 3), place),
      )
    }
  })

  test('of a verdict no recent event has go on where the search stopped', async () => {
    const [newest = ''] = namesOf(await rig.list('limit=1'))
    const query = 'processed_details_type=NOT_MATCHED&customer_id=nobody-at-all'
    expect(await rig.list(`${query}&starting_after=${encodeURIComponent(newest)}`)).toMatchObject({
      data: [],
      has_more: false,
      links: { next: null },
    })
  })

  test('that name nothing here are refused, another tenant has none of them', async () => {
    const [name = ''] = namesOf(await rig.list('limit=1'))
    const refused = async (query: string, tenant = rig.tenant) => {
      const { status, body } = await tenant.call('GET', `/v1/events?${query}`)
      return [status, body['code'], body['field']]
    }
    for (const cursor of ['nothing', `meda_${'0'.repeat(32)}`, `meda_${'0'.repeat(32)}.0/1/1`, `${name}.9/9/9`])
      expect(await refused(`starting_after=${encodeURIComponent(cursor)}`)).toEqual([
        400,
        'INVALID_FIELD',
        'starting_after',
      ])
    expect(await refused(`starting_after=${name}&ending_before=${name}`)).toEqual([
      400,
      'INVALID_FIELD',
      'ending_before',
    ])
    expect(await refused(`starting_after=${name}&page=2`)).toEqual([400, 'INVALID_FIELD', 'page'])
    expect(await refused(`ending_before=${name}`, rig.api.tenants.bLive)).toEqual([
      400,
      'INVALID_FIELD',
      'ending_before',
    ])
  })
})

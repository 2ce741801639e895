// Where the pages of events end: has_more says whether older events are there, also those that pages do not reach.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { instantOf } from '../../../../shared/time.ts'
import { type ApiHarness, startApi } from '../../../testing/harness.ts'
import type { StoredEvent } from '../../../usage/stored-events.ts'
import { NO_EVENTS } from './testing/no-events.ts'

const NEWEST = Date.parse('2026-03-01T00:00:00Z')
const DEPTH = 50_000
const DECIDED = 10_000
/** How many events there are. */
let stored = 0

const eventAt = (place: number): StoredEvent => ({
  idHash: place.toString(16).padStart(32, '0'),
  customerKey: 'unknown-customer',
  meterReference: 'm',
  subscription: '',
  properties: {},
  timestamp: instantOf(NEWEST - place * 1_000),
  receivedAt: instantOf(NEWEST),
  place: { partition: 0, seq: DEPTH * 2 - place, line: 0 },
  duplicate: false,
  reference: `r${place}`,
  values: [],
  deleted: false,
  contentDiffers: false,
})
const from = (first: number, limit: number): StoredEvent[] =>
  Array.from({ length: Math.max(0, Math.min(limit, stored - first)) }, (_, index) => eventAt(first + index))

let api: ApiHarness
beforeAll(async () => {
  const beyond = async (_: unknown, { position, limit }: { position: { idHash: string }; limit: number }) =>
    from(Number.parseInt(position.idHash, 16) + 1, limit)
  api = await startApi({
    events: {
      ...NO_EVENTS,
      list: async (_, { limit, offset }) => ({
        events: from(offset, limit),
        ended: offset + limit >= stored,
        total: null,
      }),
      count: async () => Math.min(stored, DEPTH),
      beyond: beyond as never,
    },
  })
})
afterAll(() => api?.close())

async function page(number: number, of: string) {
  const { status, body } = await api.tenants.aLive.call('GET', `/v1/events?limit=100&page=${number}${of}`)
  return status === 200 ? [body['data'].length, body['has_more']] : [status, body['field'], body['message']]
}

describe('the last page that is reached', () => {
  test.each([
    [DEPTH, false],
    [DEPTH + 1, true],
  ])('of %i events says whether there are more: %j', async (count, more) => {
    stored = count
    expect(await page(DEPTH / 100, '')).toEqual([100, more])
    expect(await page(1, '')).toEqual([100, true])
  })

  test.each([
    [DECIDED, false],
    [DECIDED + 1, true],
  ])('of %i events by their verdict says whether there are more: %j', async (count, more) => {
    stored = count
    expect(await page(DECIDED / 100, '&processed_details_type=NOT_MATCHED')).toEqual([100, more])
  })
})

test('of a verdict that none of the newest events has, it is not said that there are no older ones', async () => {
  stored = DECIDED + 1
  const billed = '&processed_details_type=DEFAULT'
  expect(await page(1, billed)).toEqual([0, true])
  expect(await page(2, billed)).toEqual([
    400,
    'page',
    'Of the newest 10000 events, no more are DEFAULT. To read on, use starting_after; to see older ones, give timestamp=[,to].',
  ])
  stored = DECIDED - 1
  expect(await page(1, billed)).toEqual([0, false])
  expect(await page(2, billed)).toEqual([0, false])
})

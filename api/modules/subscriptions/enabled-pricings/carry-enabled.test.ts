// Which pricings of another version stay enabled.
import { expect, test } from 'vitest'
import { carriedEnabled, type Sold } from './carry-enabled.ts'

const sold = (version: string, name: string, items: readonly string[], more: object = {}): Sold =>
  ({
    id: `${version}-${name}-${items}`,
    name,
    pricing_plan_version_id: version,
    product_type: 'ADDON',
    pricing_group_id: null,
    items: items.map(item => ({ product_item_ids: [item] })),
    ...more,
  }) as unknown as Sold
const PHONE = sold('old', 'Phone', ['phone'])
const of = (...now: readonly Sold[]) =>
  carriedEnabled([{ pricing_id: PHONE.id, end_at: '2026-09-01T00:00:00Z' }], { old: [PHONE], now }).map(
    ({ pricing_id, end_at }) => `${pricing_id} ${end_at}`,
  )
const UNTIL = '2026-09-01T00:00:00Z'

test.each<[string, readonly Sold[], readonly string[]]>([
  ['the pricing of the same item, with its dates', [sold('new', 'Support', ['phone'])], [`new-Support-phone ${UNTIL}`]],
  [
    'one in a group',
    [sold('new', 'Phone', ['phone'], { product_type: 'DEFAULT', pricing_group_id: 'group' })],
    [`new-Phone-phone ${UNTIL}`],
  ],
  [
    'of several the one of the same name',
    [sold('new', 'Basic', ['phone']), sold('new', 'Phone', ['phone', 'chat'])],
    [`new-Phone-phone,chat ${UNTIL}`],
  ],
  ['none of several that could be meant', [sold('new', 'Basic', ['phone']), sold('new', 'Gold', ['phone'])], []],
  ['none that is always sold', [sold('new', 'Phone', ['phone'], { product_type: 'DEFAULT' })], []],
  ['none of another item', [sold('new', 'Phone', ['chat'])], []],
  [
    'one in each version of a rate card',
    [sold('first', 'Phone', ['phone']), sold('second', 'Phone', ['phone'])],
    [`first-Phone-phone ${UNTIL}`, `second-Phone-phone ${UNTIL}`],
  ],
])('%s', (_title, now, expected) => expect(of(...now)).toEqual(expected))

test('what is of no version of the schedule is left out', () =>
  expect(carriedEnabled([{ pricing_id: 'other' }], { old: [PHONE], now: [PHONE] })).toEqual([]))

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decimal, plain } from '../decimal.ts'
import { decode, encode } from './exact-json.ts'

const anyDecimal = fc
  .tuple(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.nat(12))
  .map(([whole, places]) => decimal(`${whole}`).div(decimal(`1${'0'.repeat(places)}`)))
const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), anyDecimal)
const { value } = fc.letrec(tie => ({
  value: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.stringMatching(/^[a-z_]{1,8}$/), tie('value'), { maxKeys: 3 }),
    fc.array(fc.tuple(fc.string(), tie('value')), { maxLength: 3 }).map(entries => new Map(entries)),
    fc.array(fc.string(), { maxLength: 3 }).map(entries => new Set(entries)),
  ),
}))

test('exact JSON gives back the same values: decimals, maps and sets too', () => {
  fc.assert(
    fc.property(value, given => {
      expect(encode(decode(encode(given)))).toBe(encode(given))
      expect(decode(encode(given))).toEqual(given)
    }),
  )
  expect(plain(decode(encode(decimal('0.1000'))) as never)).toBe('0.1')
})

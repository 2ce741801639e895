// Random conditions and properties, drawn from texts that meet each other often and from ones that are hard to carry.
import fc from 'fast-check'
import { COMPARATORS, type PropertyComparator, type UsageCondition, type UsageProperty } from '../usage/condition.ts'

const PROPERTIES: readonly UsageProperty[] = [
  { reference: 'model', type: 'ENUM' },
  { reference: 'region', type: 'STRING' },
  { reference: 'size', type: 'NUMBER' },
  { reference: "it's \\ {p0:String}", type: 'STRING' },
]
const TEXTS = [
  '',
  'a',
  'b',
  'ab',
  'A',
  "'",
  "') OR 1=1 --",
  '\\',
  'é',
  '\u{1f600}',
  'e\u0301',
  '\u0000',
  ',',
  '1',
  '1.0',
  ' a',
]
const NUMBERS = [
  '0',
  '-0',
  '1',
  '1.0',
  '01',
  '9',
  '10',
  '-2.5',
  '0.000000000001',
  '-0.000000000001',
  '99999999999999999999999999.999999999999',
  '-99999999999999999999999999.999999999999',
]
/** What is no plain decimal, and so no number for a condition. */
const NO_NUMBERS = [
  '',
  'one',
  '1e3',
  '+1',
  ' 1',
  '1.',
  '.5',
  '0x1',
  '1\n',
  '100000000000000000000000000',
  '0.0000000000001',
]

const text = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...TEXTS) },
  fc.string({ unit: 'grapheme', maxLength: 6 }),
)
const number = fc.constantFrom(...NUMBERS)

export const anyProperty: fc.Arbitrary<UsageProperty> = fc.constantFrom(...PROPERTIES)

/** The properties of an event, each of them often absent. */
export const anyProperties: fc.Arbitrary<Record<string, string>> = fc
  .tuple(
    ...PROPERTIES.map(({ type }) =>
      fc.option(type === 'NUMBER' ? fc.constantFrom(...NUMBERS, ...NUMBERS, ...NO_NUMBERS) : text, { nil: undefined }),
    ),
  )
  .map(values => {
    const entries = values.flatMap((value, place) => {
      const property = PROPERTIES[place]
      return value === undefined || property === undefined ? [] : [[property.reference, value] as const]
    })
    return Object.fromEntries(entries)
  })

const anyTest: fc.Arbitrary<UsageCondition> = fc
  .tuple(anyProperty, fc.constantFrom(...(Object.keys(COMPARATORS) as PropertyComparator[])))
  .filter(([property, comparator]) => COMPARATORS[comparator].types.includes(property.type))
  .chain(([property, comparator]) => {
    const count = { NONE: 0, ONE: 1, ANY: 5 }[COMPARATORS[comparator].values]
    const minLength = COMPARATORS[comparator].values === 'ONE' ? 1 : 0
    return fc
      .array(property.type === 'NUMBER' ? number : text, { minLength, maxLength: count })
      .map(values => ({ property, comparator, values }))
  })

/** Trees of a few levels. */
export const anyCondition: fc.Arbitrary<UsageCondition> = fc.letrec<{ tree: UsageCondition }>(tie => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    anyTest,
    fc.record({
      operator: fc.constantFrom('AND' as const, 'OR' as const, 'XOR' as const),
      operands: fc.array(tie('tree'), { maxLength: 3 }),
    }),
    fc.record({ operator: fc.constant('NOT' as const), operands: tie('tree').map(operand => [operand]) }),
  ),
})).tree

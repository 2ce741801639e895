import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addDays, type LocalDate, localDate } from '../local-days.ts'
import { parsePrefix, prefixVariables } from './number-prefix.ts'
import {
  DEFAULT_NUMBER_CONFIGURATIONS,
  DYNAMIC_PREFIXES,
  documentNumber,
  NUMBER_SERIES,
  type NumberConfiguration,
  type NumberContext,
  nextCounter,
  numberConfigurationFault,
  RESET_MONTHS,
  RESET_TYPES,
  renderPrefix,
} from './numbering.ts'

const day = (text: string): LocalDate => localDate(text) as LocalDate
const INV = DEFAULT_NUMBER_CONFIGURATIONS.STANDARD
const on = (date: string, fields: Record<string, string> = {}): NumberContext => ({
  date: day(date),
  billingEntity: 'acme-be',
  variable: ({ owner, reference }) => fields[`${owner}.${reference}`] ?? null,
})
function number(given: Partial<NumberConfiguration>, counter: bigint, context: NumberContext): string {
  const configuration = { ...INV, ...given }
  expect(numberConfigurationFault(configuration)).toBeNull()
  const prefix = renderPrefix(configuration, 'STANDARD', context)
  return prefix.kind === 'ok'
    ? documentNumber(configuration, prefix.text, counter)
    : `missing ${prefix.variable.reference}`
}
/** The most that a configuration may ask for. */
const DIGITS = 20
const never = { type: 'NEVER', month: 'JANUARY' } as const

describe('numbers', () => {
  const cases: readonly [string, Partial<NumberConfiguration>, bigint, NumberContext, string][] = [
    ['semantics 5.2', {}, 1n, on('2026-03-31'), 'INV-2026-00001'],
    ['a counter wider than its digits', {}, 123_456n, on('2026-03-31'), 'INV-2026-123456'],
    ['year and month', { dynamicPrefix: ['YEAR', 'MONTH'], separator: '/' }, 7n, on('2026-03-31'), 'INV/2026/03/00007'],
    ['billing entity', { dynamicPrefix: ['BILLING_ENTITY', 'YEAR'] }, 7n, on('2026-03-31'), 'INV-acme-be-2026-00007'],
    [
      'nothing but the counter',
      { prefix: '', dynamicPrefix: [], separator: '', resetPeriod: never },
      7n,
      on('2026-03-31'),
      '00007',
    ],
    [
      'plain prefix',
      { prefix: 'F', dynamicPrefix: [], separator: '', resetPeriod: never, minimumNumberOfDigits: 1 },
      7n,
      on('2026-03-31'),
      'F7',
    ],
    [
      'the counter alone, though with a separator',
      { prefix: '', dynamicPrefix: [], resetPeriod: never },
      7n,
      on('2026-03-31'),
      '00007',
    ],
    ['no prefix of its own', { prefix: '', dynamicPrefix: ['YEAR'] }, 7n, on('2026-03-31'), '2026-00007'],
    [
      'as many digits as there may be',
      { minimumNumberOfDigits: DIGITS },
      7n,
      on('2026-03-31'),
      `INV-2026-${'7'.padStart(DIGITS, '0')}`,
    ],
    [
      'financial year before its end',
      { resetPeriod: { type: 'YEAR', month: 'APRIL' } },
      9n,
      on('2026-03-31'),
      'INV-2025-00009',
    ],
    [
      'financial year from its start',
      { resetPeriod: { type: 'YEAR', month: 'APRIL' } },
      1n,
      on('2026-04-01'),
      'INV-2026-00001',
    ],
    [
      'a month counts for years alone',
      { dynamicPrefix: ['YEAR', 'MONTH'], resetPeriod: { type: 'MONTH', month: 'APRIL' } },
      1n,
      on('2026-03-31'),
      'INV-2026-03-00001',
    ],
    [
      'custom field with space around it',
      { prefix: 'INV-{{customer.custom_fields[region]}}' },
      1n,
      on('2026-03-31', { 'customer.region': ' EU ' }),
      'INV-EU-2026-00001',
    ],
    [
      'custom field',
      { prefix: 'INV-{{customer.custom_fields[region]}}' },
      1n,
      on('2026-03-31', { 'customer.region': 'EU' }),
      'INV-EU-2026-00001',
    ],
    [
      'missing custom field',
      { prefix: '{{billing_entity.custom_fields[code]}}' },
      1n,
      on('2026-03-31', { 'customer.code': 'EU' }),
      'missing code',
    ],
  ]
  test.each(cases)('%s', (_name, given, counter, context, expected) => {
    expect(number(given, counter, context)).toBe(expected)
  })

  test('counters count from first_number by increment_by and never go back', () => {
    const by = { ...INV, firstNumber: 100, incrementBy: 10 }
    expect(nextCounter(by, null)).toBe(100n)
    expect(nextCounter(by, 100n)).toBe(110n)
    expect(nextCounter({ ...by, firstNumber: 500 }, 110n)).toBe(500n)
    expect(nextCounter({ ...by, firstNumber: 1 }, 110n)).toBe(120n)
  })

  test('each series, prefix and window has a counter of its own', () => {
    const key = (seriesName: (typeof NUMBER_SERIES)[number], date: string): string => {
      const prefix = renderPrefix(INV, seriesName, on(date))
      return prefix.kind === 'ok' ? prefix.counterKey : ''
    }
    const keys = NUMBER_SERIES.flatMap(name => [key(name, '2026-03-31'), key(name, '2027-01-01')])
    expect(new Set(keys).size).toBe(8)
    expect(key('STANDARD', '2026-01-01')).toBe(key('STANDARD', '2026-12-31'))
  })

  test('the default configurations are sound and their prefixes differ', () => {
    const all = Object.values(DEFAULT_NUMBER_CONFIGURATIONS)
    expect(all.map(numberConfigurationFault)).toEqual([null, null, null, null])
    expect(new Set(all.map(({ prefix }) => prefix)).size).toBe(4)
  })
})

test('a prefix that is refused cannot be rendered', () => {
  expect(() => renderPrefix({ ...INV, prefix: '{{' }, 'STANDARD', on('2026-03-31'))).toThrow(RangeError)
})

describe('refused configurations', () => {
  const faults: readonly [string, Partial<NumberConfiguration>][] = [
    ['dynamic_prefix', { dynamicPrefix: [] }],
    ['dynamic_prefix', { dynamicPrefix: ['YEAR'], resetPeriod: { type: 'MONTH', month: 'JANUARY' } }],
    ['separator', { separator: '' }],
    ['separator', { separator: '0' }],
    ['separator', { prefix: '{{customer.custom_fields[a]}}', dynamicPrefix: [], separator: '', resetPeriod: never }],
    ['first_number', { firstNumber: -1 }],
    ['increment_by', { incrementBy: 0 }],
    ['minimum_number_of_digits', { minimumNumberOfDigits: 0 }],
    ['minimum_number_of_digits', { minimumNumberOfDigits: DIGITS + 1 }],
    ['prefix', { prefix: '{{customer.name}}' }],
    ['prefix', { prefix: '{{customer.custom_fields[a b]}}' }],
    ['prefix', { prefix: '{{contact.custom_fields[a]}}' }],
    ['prefix', { prefix: 'INV{' }],
    ['prefix', { prefix: '{{{customer.custom_fields[a]}}}' }],
    ['prefix', { prefix: 'x'.repeat(501) }],
  ]
  test.each(faults)('%s of %o', (field, given) => {
    expect(numberConfigurationFault({ ...INV, ...given })?.field).toBe(field)
  })

  test.each<[string, unknown]>([
    ['', []],
    ['INV-', ['INV-']],
    ['{{customer.custom_fields[a]}}', [{ owner: 'customer', reference: 'a' }]],
    [
      '{{customer.custom_fields[a]}}{{billing_entity.custom_fields[b]}}-x',
      [{ owner: 'customer', reference: 'a' }, { owner: 'billing_entity', reference: 'b' }, '-x'],
    ],
    ['x'.repeat(500), ['x'.repeat(500)]],
  ])('the parts of the prefix %j', (text, parts) => {
    expect(parsePrefix(text)).toEqual({ kind: 'ok', parts })
  })

  test('a prefix that is refused is told what it may hold, and what was found', () => {
    const reading = parsePrefix('A{{customer.custom_fields[a]}}{x')
    expect(reading.kind === 'fault' && reading.message).toBe(
      'A prefix may hold text, {{customer.custom_fields[reference]}} and {{billing_entity.custom_fields[reference]}}; found {x.',
    )
  })

  test('the fields a prefix names are listed', () => {
    const reading = parsePrefix('A{{customer.custom_fields[region]}}-{{billing_entity.custom_fields[x.y]}}')
    expect(reading.kind === 'ok' && prefixVariables(reading.parts)).toEqual([
      { owner: 'customer', reference: 'region' },
      { owner: 'billing_entity', reference: 'x.y' },
    ])
  })
})

test('no two documents of a series ever get one number', () => {
  const configurations = fc.record({
    prefix: fc.constantFrom(
      '',
      'INV',
      'INV-',
      '{{customer.custom_fields[f]}}',
      'A{{billing_entity.custom_fields[f]}}1',
    ),
    dynamicPrefix: fc.subarray([...DYNAMIC_PREFIXES]),
    separator: fc.constantFrom('', '-', '/', '--'),
    firstNumber: fc.nat(3),
    incrementBy: fc.integer({ min: 1, max: 3 }),
    minimumNumberOfDigits: fc.integer({ min: 1, max: 3 }),
    resetPeriod: fc.record({ type: fc.constantFrom(...RESET_TYPES), month: fc.constantFrom(...RESET_MONTHS) }),
  })
  const name = fc.constantFrom('1', '11', '2026', 'A-2026', 'A', '2026-01')
  const documents = fc.array(fc.record({ days: fc.nat(900), entity: name, field: name }), {
    minLength: 2,
    maxLength: 40,
  })
  fc.assert(
    fc.property(configurations, documents, (configuration, all) => {
      fc.pre(numberConfigurationFault(configuration) === null)
      const last = new Map<string, bigint>()
      const numbers = all.map(({ days, entity, field }) => {
        const context = { date: addDays(day('2025-06-01'), days), billingEntity: entity, variable: () => field }
        const prefix = renderPrefix(configuration, 'STANDARD', context)
        if (prefix.kind !== 'ok') throw new Error('a value is missing')
        const counter = nextCounter(configuration, last.get(prefix.counterKey) ?? null)
        last.set(prefix.counterKey, counter)
        return documentNumber(configuration, prefix.text, counter)
      })
      expect(new Set(numbers).size).toBe(all.length)
    }),
    { numRuns: 400 },
  )
})

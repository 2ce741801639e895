// Events that are refused, each by its code and at its field.
import { describe, expect, test } from 'vitest'
import {
  COUNTRY,
  cost,
  country,
  model,
  parseEvent,
  refusal,
  SELECTOR,
  selecting,
  single,
  tokens,
} from '../../testing/parsing.ts'
import { goodEvent, parseText } from '../../testing/samples.ts'

describe('a decimal that is wrong is refused at its field', () => {
  const wrong = [
    '1e400',
    '1e2',
    'NaN',
    'Infinity',
    '0x10',
    '',
    ' 1 ',
    '1,5',
    '٣',
    '+1',
    '.5',
    '5.',
    '--1',
    '1_0',
    '9'.repeat(10_000),
    '9'.repeat(27),
    `0.${'1'.repeat(13)}`,
    12.5,
    true,
    [],
    {},
  ]
  for (const number of wrong) {
    test(`number ${JSON.stringify(number).slice(0, 30)}`, () =>
      expect(refusal(parseEvent(tokens({ number })))).toEqual({
        status: 400,
        code: 'INVALID_FIELD',
        field: 'meter_values.0.number',
      }))
    test(`amount of ${JSON.stringify(number).slice(0, 30)}`, () =>
      expect(refusal(parseEvent(cost({ quantity: number, currency: 'EUR' })))).toEqual({
        status: 400,
        code: 'INVALID_FIELD',
        field: 'meter_values.1.amount.quantity',
      }))
  }
})

describe('a timestamp that is wrong is refused at its field', () => {
  for (const timestamp of [
    '2026-01-31T10:00:00',
    '2026-01-31',
    '0000-01-01T00:00:00Z',
    '1969-12-31T23:59:59Z',
    '1970-01-01T00:00:00+14:00',
    '9999-01-01T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-06-30T23:59:60Z',
    '2026-01-31T10:00:00+15:00',
    '2026-01-31T24:00:00Z',
    '2026-01-31 10:00:00Z',
    '2026-01-31T10:00:00z',
    '',
    1769853600,
    {},
    '2026-01-31T12:30:01Z',
    '2027-01-01T00:00:00Z',
  ]) {
    test(JSON.stringify(timestamp), () =>
      expect(refusal(parseEvent({ timestamp }))).toEqual({ status: 400, code: 'INVALID_FIELD', field: 'timestamp' }),
    )
  }
  test('the refusal says that it is before 1970, and what is taken', () => {
    const parsed = parseEvent({ timestamp: '1969-12-31T23:59:59Z' })
    expect(parsed.kind === 'reject' && parsed.error.message).toContain('before 1970')
  })
  test('half an hour ahead is taken, and any age since 1970', () => {
    expect(single({ timestamp: '2026-01-31T12:30:00Z' })).toBeDefined()
    expect(single({ timestamp: '1970-01-01T00:00:00Z' })).toBeDefined()
  })
})

describe('what the meter or the interface does not have is refused by name', () => {
  const cases: [string, Record<string, unknown>, string, string][] = [
    ['no reference', { reference: undefined }, 'MISSING_REFERENCE', 'reference'],
    ['an empty reference', { reference: '' }, 'INVALID_FIELD', 'reference'],
    ['a reference of 256', { reference: 'x'.repeat(256) }, 'INVALID_FIELD', 'reference'],
    ['a number as reference', { reference: 5 }, 'INVALID_FIELD', 'reference'],
    ['NUL in a reference', { reference: 'a\0b' }, 'INVALID_FIELD', 'reference'],
    ['a line end in a reference', { reference: 'a\nb' }, 'INVALID_FIELD', 'reference'],
    ['a lone surrogate', { reference: 'a\ud800' }, 'INVALID_FIELD', 'reference'],
    ['no customer', { customer_reference: undefined }, 'MISSING_FIELD', 'customer_reference'],
    ['two customers', { customer_id: 'cust_1' }, 'INVALID_FIELD', 'customer_id'],
    ['no meter', { meter_reference: undefined }, 'MISSING_FIELD', 'meter_reference'],
    ['an unknown meter', { meter_reference: 'nope' }, 'RESOURCE_NOT_FOUND', 'meter_reference'],
    ['an unknown meter id', { meter_reference: undefined, meter_id: 'nope' }, 'RESOURCE_NOT_FOUND', 'meter_id'],
    ['a reference as meter id', { meter_reference: undefined, meter_id: 'requests' }, 'RESOURCE_NOT_FOUND', 'meter_id'],
    ['meters that differ', { meter_id: 'metr_0000000000000000000002' }, 'INVALID_FIELD', 'meter_id'],
    ['an unknown field', { colour: 'red' }, 'INVALID_FIELD', 'colour'],
    ['an unknown field that is null', { colour: null }, 'INVALID_FIELD', 'colour'],
    ...['id', 'created_at', 'processed_details', 'cost_prediction', 'deleted', 'customer', 'object_type', 'type'].map(
      (field): [string, Record<string, unknown>, string, string] => [
        `${field}, which only answers have`,
        { [field]: 'x' },
        'INVALID_FIELD',
        field,
      ],
    ),
    ['values that are no list', { meter_values: {} }, 'INVALID_FIELD', 'meter_values'],
    ['a value that is no object', { meter_values: ['x'] }, 'INVALID_FIELD', 'meter_values.0'],
    ['a missing value', { meter_values: [] }, 'MISSING_FIELD', 'meter_values'],
    ['a value without a name', { meter_values: [{ number: '1' }] }, 'MISSING_FIELD', 'meter_values.0.reference'],
    [
      'an unknown value',
      { meter_values: [{ reference: 'x', number: '1' }] },
      'INVALID_FIELD',
      'meter_values.0.reference',
    ],
    [
      'a value twice',
      {
        meter_values: [
          { reference: 'tokens', number: '1' },
          { id: 'metv_0000000000000000000001', number: '1' },
        ],
      },
      'INVALID_FIELD',
      'meter_values.1.id',
    ],
    [
      'value id and reference that differ',
      tokens({ id: 'metv_0000000000000000000002', number: '1' }),
      'INVALID_FIELD',
      'meter_values.0.id',
    ],
    ['no number', tokens({}), 'MISSING_FIELD', 'meter_values.0.number'],
    [
      'an amount for a number',
      tokens({ amount: { quantity: '1', currency: 'EUR' } }),
      'INVALID_FIELD',
      'meter_values.0.amount',
    ],
    [
      'a number for an amount',
      { meter_values: [{ reference: 'cost', number: '1' }] },
      'INVALID_FIELD',
      'meter_values.0.number',
    ],
    ['a count', tokens({ number: '1', count: '1' }), 'INVALID_FIELD', 'meter_values.0.count'],
    [
      'dynamic validation settings',
      tokens({ number: '1', dynamic_validation_settings: {} }),
      'INVALID_FIELD',
      'meter_values.0.dynamic_validation_settings',
    ],
    ['no amount', { meter_values: [{ reference: 'cost' }] }, 'MISSING_FIELD', 'meter_values.0.amount'],
    [
      'a currency in small letters',
      cost({ quantity: '1', currency: 'eur' }),
      'INVALID_FIELD',
      'meter_values.1.amount.currency',
    ],
    [
      'an unknown field of an amount',
      cost({ quantity: '1', currency: 'EUR', x: 1 }),
      'INVALID_FIELD',
      'meter_values.1.amount.x',
    ],
    ['a missing property', { meter_properties: [] }, 'MISSING_FIELD', 'meter_properties'],
    [
      'an unknown property',
      { meter_properties: [{ reference: 'x', value: '1' }] },
      'INVALID_FIELD',
      'meter_properties.0.reference',
    ],
    ['a property twice', { meter_properties: [model, model] }, 'INVALID_FIELD', 'meter_properties.1.reference'],
    [
      'a property that is a number',
      { meter_properties: [{ reference: 'model', value: 5 }] },
      'INVALID_FIELD',
      'meter_properties.0.value',
    ],
    [
      'a property without a value',
      { meter_properties: [{ reference: 'model' }] },
      'MISSING_FIELD',
      'meter_properties.0.value',
    ],
    [
      'a property of 1001 characters',
      { meter_properties: [{ reference: 'model', value: 'x'.repeat(1_001) }] },
      'INVALID_FIELD',
      'meter_properties.0.value',
    ],
    [
      'NUL in a property',
      { meter_properties: [{ reference: 'model', value: '\0' }] },
      'INVALID_FIELD',
      'meter_properties.0.value',
    ],
    [
      'an unlisted ENUM value',
      { meter_properties: [model, { reference: 'region', value: 'mars' }] },
      'INVALID_FIELD',
      'meter_properties.1.value',
    ],
    [
      'a NUMBER property that is none',
      { meter_properties: [model, { reference: '7', value: 'x' }] },
      'INVALID_FIELD',
      'meter_properties.1.value',
    ],
    [
      'a subscription named twice',
      { pricing_plan_subscription_id: 'a', pricing_plan_subscription_reference: 'b' },
      'INVALID_FIELD',
      'pricing_plan_subscription_reference',
    ],
    [
      'a subscription id that is a number',
      { pricing_plan_subscription_id: 1 },
      'INVALID_FIELD',
      'pricing_plan_subscription_id',
    ],
    ['a selector that is a text', selecting('x'), 'INVALID_FIELD', `${SELECTOR}`],
    ['an unknown member of a selector', selecting({ x: 1 }), 'INVALID_FIELD', `${SELECTOR}.x`],
    ['an unknown fallback', selecting({ fallback: 'FIRST' }), 'INVALID_FIELD', `${SELECTOR}.fallback`],
    [
      'an unknown field of data',
      selecting({ data: [{ field: 'X', value: '1' }] }),
      'INVALID_FIELD',
      `${SELECTOR}.data.0.field`,
    ],
    [
      'data without a value',
      selecting({ data: [country('NL'), { field: COUNTRY }] }),
      'MISSING_FIELD',
      `${SELECTOR}.data.1.value`,
    ],
    [
      'a rule without data',
      selecting({ rules: [{ field: COUNTRY, type: 'EQUALS' }] }),
      'INVALID_FIELD',
      `${SELECTOR}.rules.0.field`,
    ],
    [
      'a numeric comparator',
      selecting({ data: [country('NL')], rules: [{ field: COUNTRY, type: 'GREATER_THAN' }] }),
      'INVALID_FIELD',
      `${SELECTOR}.rules.0.type`,
    ],
    [
      'a filter without a value',
      selecting({ filters: [{ field: COUNTRY, type: 'EQUALS' }] }),
      'MISSING_FIELD',
      `${SELECTOR}.filters.0.value`,
    ],
    [
      'a filter with a value too many',
      selecting({ filters: [{ field: COUNTRY, type: 'EMPTY', value: 'NL' }] }),
      'INVALID_FIELD',
      `${SELECTOR}.filters.0.value`,
    ],
    [
      'eleven entries',
      selecting({ data: Array.from({ length: 11 }, () => country('NL')) }),
      'INVALID_FIELD',
      `${SELECTOR}.data`,
    ],
  ]
  for (const [name, changes, code, field] of cases) {
    test(name, () => expect(refusal(parseEvent(changes))).toEqual({ status: 400, code, field }))
  }
  test('only an unknown meter is worth a second look', () => {
    const unknown = (parsed: ReturnType<typeof parseText>) => parsed.kind === 'reject' && parsed.unknownMeter
    expect(unknown(parseEvent({ meter_reference: 'nope' }))).toBe(true)
    expect(unknown(parseEvent({ reference: '' }))).toBe(false)
  })
  test('__proto__ is a field like any other', () => {
    expect(refusal(parseText('{"__proto__":{"reference":"x"}}')).field).toBe('__proto__')
  })
  test('a key that is given twice, at any depth', () => {
    const text = JSON.stringify(goodEvent())
    expect(refusal(parseText(text.replace('{"reference":"req-1"', '{"reference":"a","reference":"req-1"'))).code).toBe(
      'BAD_REQUEST',
    )
    expect(refusal(parseText(text.replace('"number":"12.5"', '"number":"1","number":"12.5"'))).code).toBe('BAD_REQUEST')
  })
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseInstant } from '../../shared/time.ts'
import { parseJson } from '../http/parse-json.ts'
import { goodEvent, METERS, NOW, parseText, REQUESTS_METER } from '../testing/samples.ts'
import { parseBatch, parseSingle } from './parse.ts'

const parseEvent = (changes: Record<string, unknown>) => parseText(JSON.stringify({ ...goodEvent(), ...changes }))
const single = (changes: Record<string, unknown> = {}) => {
  const parsed = parseEvent(changes)
  if (parsed.kind === 'reject') throw parsed.error
  return parsed.events[0]
}
const refusal = (parsed: ReturnType<typeof parseText>) => {
  if (parsed.kind !== 'reject') throw new Error('it was not refused')
  return { status: parsed.error.status, code: parsed.error.code, field: parsed.error.details.field }
}
const tokens = (entry: Record<string, unknown>) => ({ meter_values: [{ reference: 'tokens', ...entry }] })
const cost = (amount: unknown) => ({
  meter_values: [
    { reference: 'tokens', number: '1' },
    { reference: 'cost', amount },
  ],
})
const model = { reference: 'model', value: 'm' }

const SELECTOR = 'pricing_plan_subscription_selector'
const COUNTRY = 'BILLING_ENTITY_REGISTERED_ADDRESS_COUNTRY'
const selecting = (selector: unknown) => ({ [SELECTOR]: selector })
const country = (value: string) => ({ field: COUNTRY, value })

describe('an event that is right', () => {
  test('is read with its values and properties in the order of the meter', () => {
    const event = single({
      meter_values: [
        { id: 'metv_0000000000000000000002', amount: { quantity: '-0.5', currency: 'EUR' } },
        { reference: 'tokens', number: '12.5' },
      ],
      meter_properties: [model, { reference: 'region', value: 'eu' }],
    })
    expect(event).toMatchObject({
      reference: 'req-1',
      customerField: 'customer_reference',
      customerKey: 'acme',
      meter: REQUESTS_METER,
      timestampMs: Date.UTC(2026, 0, 31, 10),
      values: [
        { quantity: '12.5', currency: '' },
        { quantity: '-0.5', currency: 'EUR' },
      ],
      properties: ['eu', 'm', null, null],
    })
  })

  test('without a timestamp happened now', () => expect(single({ timestamp: undefined })?.timestampMs).toBe(NOW))
  test('may leave fields null', () => expect(single({ timestamp: null, customer_id: null })?.timestampMs).toBe(NOW))
  test('may name meter and customer by id', () => {
    const event = single({
      meter_reference: undefined,
      meter_id: REQUESTS_METER.id,
      customer_reference: undefined,
      customer_id: 'cust_1',
    })
    expect(event).toMatchObject({ meter: REQUESTS_METER, customerField: 'customer_id', customerKey: 'cust_1' })
  })
  test('may name the meter twice when both agree', () => expect(single({ meter_id: REQUESTS_METER.id })).toBeDefined())
  for (const number of ['0', '-0', '1', '-1.5', '007', '0.000000000001', '9'.repeat(26), `1.${'1'.repeat(12)}`]) {
    test(`number ${number} is taken as sent`, () =>
      expect(single(tokens({ number }))?.values[0]?.quantity).toBe(number))
  }
})

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
  test('half an hour ahead is taken, and any age', () => {
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

describe('the subscription of an event', () => {
  const keyOf = (changes: Record<string, unknown>): string => {
    const parsed = parseEvent(changes)
    if (parsed.kind === 'reject') throw parsed.error
    return parsed.events[0]?.subscription ?? 'no event'
  }
  test('is kept as one canonical text', () => {
    expect(keyOf({})).toBe('')
    expect(keyOf({ pricing_plan_subscription_id: null, pricing_plan_subscription_selector: null })).toBe('')
    expect(keyOf({ pricing_plan_subscription_id: 'ppsu_1' })).toBe('id:ppsu_1')
    expect(keyOf({ pricing_plan_subscription_reference: 'id:"x"' })).toBe('ref:id:"x"')
    expect(keyOf(selecting({}))).toBe('sel:{"fallback":"LATEST"}')
    expect(
      keyOf(
        selecting({
          fallback: 'NONE',
          filters: [
            { value: 'gold', type: 'EQUALS', field: 'PRICING_PLAN_REFERENCE' },
            { field: COUNTRY, type: 'EMPTY' },
          ],
          rules: [{ type: 'EQUALS', field: COUNTRY }],
          data: [country('NL'), country('BE'), country('NL')],
        }),
      ),
    ).toBe(
      `sel:{"data":[{"field":"${COUNTRY}","value":"BE"},{"field":"${COUNTRY}","value":"NL"}],` +
        `"rules":[{"field":"${COUNTRY}","type":"EQUALS"}],` +
        `"filters":[{"field":"${COUNTRY}","type":"EMPTY"},{"field":"PRICING_PLAN_REFERENCE","type":"EQUALS","value":"gold"}],` +
        '"fallback":"NONE"}',
    )
  })
  test('in a selector leaves the path of what comes after it alone', () => {
    const parsed = parseText(
      JSON.stringify([
        { ...goodEvent(), ...selecting({ data: [country('NL')] }) },
        { ...goodEvent(), reference: '' },
      ]),
      'list',
    )
    expect(refusal(parsed).field).toBe('1.reference')
  })
})

describe('a batch', () => {
  const good = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ ...goodEvent(), reference: `r-${index}` }))
  const batch = (value: unknown) => parseText(JSON.stringify(value), 'list')

  test('is an array, or an object with meter_datas', () => {
    expect(batch(good(50))).toMatchObject({ kind: 'events', wrapped: false, events: { length: 50 } })
    expect(batch({ meter_datas: good(2) })).toMatchObject({ kind: 'events', wrapped: true, events: { length: 2 } })
  })
  test('of 51 or none is refused, naming what was sent and what is allowed', () => {
    for (const count of [0, 51]) {
      const parsed = batch(good(count))
      expect(parsed).toMatchObject({ kind: 'reject', error: { code: 'INVALID_REQUEST', status: 400 } })
      expect(parsed.kind === 'reject' ? parsed.error.message : '').toMatch(
        new RegExp(`^${count} events were sent; .* 1 to 50`),
      )
    }
  })
  test('with one bad event is refused whole, naming the place', () => {
    const events: unknown[] = good(5)
    events[3] = { ...goodEvent(), meter_values: [{ reference: 'tokens', number: 5 }] }
    expect(refusal(batch(events)).field).toBe('3.meter_values.0.number')
    expect(refusal(batch({ meter_datas: events })).field).toBe('meter_datas.3.meter_values.0.number')
  })
  test('that is something else is refused', () => {
    expect(refusal(batch({})).field).toBe('meter_datas')
    expect(refusal(batch({ meter_datas: {} })).field).toBe('meter_datas')
    expect(refusal(batch('x')).code).toBe('INVALID_FIELD')
    expect(refusal(batch([null])).field).toBe('0')
    expect(refusal(batch({ meter_datas: good(1), x: 1 })).field).toBe('x')
  })
  test('sent as one event is refused', () => expect(refusal(parseText('[]')).code).toBe('INVALID_FIELD'))
})

describe('whatever JSON comes', () => {
  const names = [
    'reference',
    'customer_id',
    'customer_reference',
    'meter_id',
    'meter_reference',
    'timestamp',
    'meter_values',
    'meter_properties',
    'number',
    'amount',
    'value',
    'id',
    'meter_datas',
    'pricing_plan_subscription_selector',
    '__proto__',
    'constructor',
  ]
  const anything = fc.letrec(tie => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.jsonValue({ maxDepth: 2 }),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('requests', 'tokens', 'model', '1', '2026-01-01T00:00:00Z'),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 6 }),
    ),
  })).value

  test('the answer is events or a refusal with status 400, and never a throw', () => {
    fc.assert(
      fc.property(anything, fc.constantFrom('single', 'list'), (value, form) => {
        const parsed = parseText(JSON.stringify(value) ?? 'null', form as 'single' | 'list')
        expect(parsed.kind === 'events' || parsed.error.status === 400).toBe(true)
      }),
      { numRuns: 3_000 },
    )
  })

  test('a good event with one part changed is read the same whether or not the body is plain', () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(goodEvent())), anything, (field, value) => {
        const text = JSON.stringify({ ...goodEvent(), [field]: value })
        const body = parseJson(Buffer.from(text))
        const context = { meters: METERS, now: NOW, batchMax: 50, readTimestamp: parseInstant }
        const outcome = (plain: boolean) => {
          const parsed = parseSingle(body.value, { ...context, scan: { ...body.scan, plain } })
          return parsed.kind === 'reject' ? { body: parsed.error.toBody() } : { event: parsed.events[0] }
        }
        expect(outcome(body.scan.plain)).toEqual(outcome(false))
      }),
      { numRuns: 1_000 },
    )
  })

  test('parsers do not throw on values that no JSON has', () => {
    const context = {
      scan: { keys: 0, plain: false },
      meters: METERS,
      now: NOW,
      batchMax: 50,
      readTimestamp: () => null,
    }
    for (const value of [undefined, Number.NaN, () => 1, Symbol.iterator, new Map()]) {
      expect(parseSingle(value, context).kind).toBe('reject')
      expect(parseBatch(value, context).kind).toBe('reject')
    }
  })
})

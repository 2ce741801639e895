import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseInstant } from '../../../shared/time.ts'
import { parseJson } from '../../http/parse-json.ts'
import { COUNTRY, country, model, parseEvent, refusal, selecting, single, tokens } from '../../testing/parsing.ts'
import { goodEvent, METERS, NOW, parseText, REQUESTS_METER } from '../../testing/samples.ts'
import { parseBatch, parseSingle } from './parse.ts'

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
  test('sent as one event is refused, naming the call that takes a batch', () => {
    for (const events of [[], good(2)]) {
      const error = { code: 'INVALID_REQUEST', status: 400, message: expect.stringContaining('/v1/events/ingest-list') }
      expect(parseText(JSON.stringify(events))).toMatchObject({ kind: 'reject', error })
    }
  })
  test('in which one event was sent, or a list under another name, is refused with the form of a batch', () => {
    for (const body of [goodEvent(), { events: good(2) }])
      expect(batch(body)).toMatchObject({ error: { message: expect.stringContaining('{"meter_datas": [...]}') } })
    expect(refusal(batch({ events: good(2) })).field).toBe('events')
  })
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

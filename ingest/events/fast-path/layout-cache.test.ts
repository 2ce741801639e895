// What is taken for an event that looks like one before. That the same is made of it as a full scan would is held in
// read-body.test.ts.
import { beforeEach, describe, expect, test } from 'vitest'
import { goodEvent, METERS, REQUESTS_METER } from '../../testing/samples.ts'
import { Input } from './bytes.ts'
import { createLayoutCache } from './layout-cache.ts'
import { meterBytes } from './meter-bytes.ts'
import { resolveEntries } from './resolve-entries.ts'
import { EventSpans, scanEvent } from './scan-event.ts'
import { CUSTOMER, REFERENCE } from './shape.ts'
import { Slots } from './slots.ts'

const meter = meterBytes(REQUESTS_METER)
if (meter === null) throw new Error('the meter of the samples is plain')

const BODY_MAX = 10_000
const input = new Input(BODY_MAX)
const spans = new EventSpans()
const slots = new Slots()
let cache = createLayoutCache({ input, spans, slots })

const event = (over: Record<string, unknown> = {}): Record<string, unknown> => ({
  ...goodEvent(),
  meter_values: [
    { reference: 'tokens', number: '12' },
    { reference: 'cost', amount: { quantity: '1.5', currency: 'EUR' } },
  ],
  meter_properties: [
    { reference: 'model', value: 'large' },
    { reference: 'region', value: 'eu' },
  ],
  ...over,
})

/** Scans the event in full, as often as it takes to be remembered. */
function learn(of: Record<string, unknown> | string): void {
  const body = Buffer.from(typeof of === 'string' ? of : JSON.stringify(of))
  for (let turn = 0; turn < 40; turn += 1) {
    input.load(body)
    if (cache.find(0, METERS) !== null) return
    const end = scanEvent(input, 0, spans)
    slots.put(REFERENCE, spans.reference, spans.referenceEnd)
    slots.put(CUSTOMER, spans.customer, spans.customerEnd)
    if (meter !== null) cache.learn(0, end, { meter, mask: resolveEntries(input, spans, meter, slots) })
  }
}

const isFound = (of: Record<string, unknown> | string, meters = METERS): boolean => {
  const text = typeof of === 'string' ? of : JSON.stringify(of)
  input.load(Buffer.from(text))
  return cache.find(0, meters) !== null && cache.end === text.length
}

beforeEach(() => {
  cache = createLayoutCache({ input, spans, slots })
  learn(event())
})

test('other texts between the same bytes are found, and put where they belong', () => {
  const other = event({ reference: 'another', customer_reference: 'somebody else' })
  expect(isFound(other)).toBe(true)
  const textOf = (slot: number): string =>
    input.text(slots.starts[slot] ?? 0, (slots.starts[slot] ?? 0) + (slots.lengths[slot] ?? 0))
  expect([textOf(REFERENCE), textOf(CUSTOMER)]).toEqual(['another', 'somebody else'])
  expect(input.text(spans.timestamp, spans.timestampEnd)).toBe(other['timestamp'])
})

describe('is left to the full scan:', () => {
  const [tokens, cost] = event()['meter_values'] as Record<string, unknown>[]
  const [model, region] = event()['meter_properties'] as Record<string, unknown>[]
  test.each<[string, Record<string, unknown> | string]>([
    ['no reference', event({ reference: '' })],
    ['a reference too long', event({ reference: 'x'.repeat(256) })],
    ['a text with an escape', event({ customer_reference: 'a"b' })],
    ['a number that is none', event({ meter_values: [{ ...tokens, number: '1e3' }, cost] })],
    ['no number', event({ meter_values: [{ ...tokens, number: '' }, cost] })],
    [
      'a currency that is none',
      event({ meter_values: [tokens, { ...cost, amount: { quantity: '1', currency: 'eur' } }] }),
    ],
    ['a value that is not listed', event({ meter_properties: [model, { ...region, value: 'mars' }] })],
    ['other entries', event({ meter_values: [cost, tokens] })],
    ['another meter', event({ meter_reference: 'storage' })],
    ['white space', JSON.stringify(event(), null, 1)],
    ['an end that is missing', JSON.stringify(event()).slice(0, -1)],
  ])('%s', (_, of) => expect(isFound(of)).toBe(false))

  test('a meter that was changed since, or is another tenant’s', () => {
    const changed = { ...REQUESTS_METER }
    expect(isFound(event())).toBe(true)
    expect(isFound(event(), { ...METERS, byReference: new Map([[changed.reference, changed]]) })).toBe(false)
    expect(isFound(event(), { ...METERS, byReference: new Map() })).toBe(false)
  })

  test('what stood in the memory before, behind the end of a shorter body', () => {
    const text = JSON.stringify(event())
    expect(isFound(text)).toBe(true)
    expect(isFound(text.slice(0, -3))).toBe(false)
  })
})

test('a body as long as may be, cut where a long piece would begin, is not read beyond its memory', () => {
  const spread = (over: Record<string, unknown>): string => {
    const text = JSON.stringify(event(over))
    return `${text.slice(0, -1)}${' '.repeat(600)}}`
  }
  const learned = spread({})
  const padding = ' '.repeat(BODY_MAX - learned.length)
  learn(`{${padding}${learned.slice(1)}`)
  expect(isFound(`{${padding}${learned.slice(1)}`)).toBe(true)
  const longer = spread({ reference: 'x'.repeat(255), customer_reference: 'y'.repeat(255) })
  expect(isFound(`{${padding}${longer.slice(1)}`.slice(0, BODY_MAX))).toBe(false)
})

test('a few layouts are cached side by side, and the one met longest ago is forgotten', () => {
  const layouts = Array.from({ length: 5 }, (_, place) => {
    const { reference, ...rest } = event()
    return Object.fromEntries([
      ...Object.entries(rest).slice(place),
      ['reference', reference],
      ...Object.entries(rest).slice(0, place),
    ])
  })
  for (const layout of layouts) learn(layout)
  expect(layouts.map(layout => isFound(layout))).toEqual([false, true, true, true, true])
})

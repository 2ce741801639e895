// The fast path beside the slow one: the same bytes in, the same lines, keys and answer out, or nothing.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hashesOf } from '../../../shared/contracts/usage-event.ts'
import { formatInstant, instantOf } from '../../../shared/time.ts'
import { goodEvent, METERS, NOW, ODD_METER, parseText, REQUESTS_METER } from '../../testing/samples.ts'
import { encodeUsageEvent, viewOf } from '../encode.ts'
import { Lines } from '../lines.ts'
import { KEY_WORDS, putKey } from '../repeats/event-key.ts'
import { createFastReader } from './read-body.ts'

type Form = 'single' | 'list'
const identity = {
  platformId: 'plat_0000000000000000000001',
  environment: 'LIVE',
  keyRowId: 'apik_1',
  roleType: 'ADMINISTRATOR',
  originalUserIds: null,
  expiresAt: null,
} as const
const PARTITIONS = 4
const BATCH_MAX = 5
const PATIENCE_MS = 60_000
// One for all cases, so that what it remembers of one body is there when it reads the next.
const reader = createFastReader()
const lines = new Lines(PARTITIONS)

const keyOf = (idHash: string, contentHash: string): number[] => {
  const keys = new Int32Array(KEY_WORDS)
  putKey(idHash, contentHash, keys, 0)
  return [...keys]
}

type Outcome = { lines: string[]; keys: number[][]; partitions: number[]; answer: string }

function quickly(body: Buffer, form: Form): Outcome | null {
  lines.clear()
  const context = { identity, meters: METERS, now: NOW, batchMax: BATCH_MAX, lineBytesMax: 900_000 }
  const answer = reader.read(body, form, context, lines)
  if (answer === null) return null
  answer.release()
  const each = Array.from({ length: lines.count }, (_, line) => line)
  return {
    lines: each.map(line => lines.output.bytes.toString('utf8', lines.startOf(line), lines.endOf(line))),
    keys: each.map(line => [...lines.keys.subarray(lines.keyOf(line), lines.keyOf(line + 1))]),
    partitions: each.map(line => lines.partitionOf(line)),
    answer: Buffer.from(answer.bytes).toString('utf8'),
  }
}

/** What parse.ts and encode.ts make of the body; null when they refuse it. */
function slowly(body: Buffer, form: Form): Outcome | null {
  const parsed = attempt(() => parseText(body.toString('latin1'), form, BATCH_MAX))
  if (parsed === null || parsed.kind === 'reject') return null
  const encoded = parsed.events.map(event => ({ event, ...encodeUsageEvent(identity, event, NOW, JSON.stringify) }))
  const views = encoded.map(({ event, idHash }) => viewOf(event, idHash, formatInstant(NOW), JSON.stringify)).join(',')
  const list = parsed.wrapped ? `{"meter_datas":[${views}]}` : `[${views}]`
  return {
    lines: encoded.map(({ line }) => line),
    keys: encoded.map(({ idHash, contentHash }) => keyOf(idHash, contentHash)),
    partitions: encoded.map(({ idHash }) => Number.parseInt(idHash.slice(0, 8), 16) % PARTITIONS),
    answer: form === 'single' ? views : list,
  }
}

function attempt<T>(work: () => T): T | null {
  try {
    return work()
  } catch {
    return null // refused before it was parsed
  }
}

/** The fast path may leave a body to the slow one; when it takes one, both make the same of it. */
function expectSame(text: string | Buffer, form: Form): boolean {
  const body = Buffer.from(text)
  const quick = quickly(body, form)
  if (quick === null) return false
  expect(quick).toEqual(slowly(body, form))
  return true
}

/** Reads the body until the reader knows how its events look, so that what is read next may be read by what is remembered. */
function makeFamiliar(value: unknown, form: Form): void {
  const body = Buffer.from(JSON.stringify(value))
  for (let turn = 0; turn < 40; turn += 1) quickly(body, form)
}

const text = fc.string({ unit: fc.constantFrom(...'abcXYZ 019!#-_.~{}[]:,'), minLength: 1, maxLength: 20 })
const decimal = fc.constantFrom('0', '-0', '12.5', '007', '9'.repeat(26), `1.${'1'.repeat(12)}`, '-1.000')
const time = fc.oneof(
  fc.integer({ min: 0, max: NOW + 30 * 60_000 }).map(ms => new Date(ms).toISOString()),
  fc.integer({ min: 0, max: NOW + 30 * 60_000 }).map(ms => formatInstant(instantOf(ms))),
  fc.integer({ min: NOW - 86_400_000, max: NOW }).map(ms => new Date(ms).toISOString()),
)
const member = <T>(name: string, value: fc.Arbitrary<T>) => value.map(each => ({ [name]: each }))
const shuffled = (parts: fc.Arbitrary<Record<string, unknown>>[]) =>
  fc
    .tuple(...parts)
    .chain(list => fc.shuffledSubarray(list, { minLength: list.length }))
    .map(list => Object.assign({}, ...list) as Record<string, unknown>)
const amount = shuffled([member('quantity', decimal), member('currency', fc.constantFrom('EUR', 'USD'))])
const tokens = shuffled([member('reference', fc.constant('tokens')), member('number', decimal)])
const cost = shuffled([member('reference', fc.constant('cost')), member('amount', amount)])
const property = (reference: string, value: fc.Arbitrary<string>) =>
  shuffled([member('reference', fc.constant(reference)), member('value', value)])
const anyOrder = <T>(...list: fc.Arbitrary<T>[]) =>
  fc.tuple(...list).chain(all => fc.shuffledSubarray(all, { minLength: all.length }))

/** Every event of the common form that is right, its fields in any order. */
const commonEvent = shuffled([
  member('reference', text),
  fc.oneof(member('customer_reference', text), member('customer_id', text)),
  fc.constantFrom({ meter_reference: REQUESTS_METER.reference }, { meter_id: REQUESTS_METER.id }),
  fc.oneof(member('timestamp', time), fc.constant({})),
  member('meter_values', fc.oneof(anyOrder(tokens), anyOrder(tokens, cost))),
  member(
    'meter_properties',
    fc.oneof(
      anyOrder(property('model', text)),
      anyOrder(
        property('model', fc.oneof(text, fc.constant(''))),
        property('region', fc.constantFrom('eu', 'us')),
        property('7', decimal),
        property('__proto__', text),
      ),
    ),
  ),
])
const spacing = fc.constantFrom(undefined, 1, '\t')

describe('the fast path', () => {
  test(
    'takes every event of the common form, in any order and with any white space, and makes of it what the other way does',
    () => {
      fc.assert(
        fc.property(commonEvent, spacing, (event, space) => {
          expect(expectSame(`${JSON.stringify(event, null, space)}\n`, 'single')).toBe(true)
        }),
        { numRuns: 500 },
      )
    },
    PATIENCE_MS,
  )

  test(
    'takes batches, bare and wrapped',
    () => {
      const batch = fc.array(commonEvent, { minLength: 1, maxLength: BATCH_MAX })
      fc.assert(
        fc.property(batch, fc.boolean(), spacing, (events, wrapped, space) => {
          const value = wrapped ? { meter_datas: events } : events
          expect(expectSame(JSON.stringify(value, null, space), 'list')).toBe(true)
        }),
        { numRuns: 200 },
      )
    },
    PATIENCE_MS,
  )

  test(
    'takes events that look like one before them, with other texts, and makes of them what the other way does',
    () => {
      const texts = fc.record({ reference: text, customer: text, time, tokens: decimal, model: text, cost: decimal })
      const form = ({
        reference,
        customer,
        time: timestamp,
        tokens: number,
        model,
        cost: quantity,
      }: Record<string, string>) => ({
        timestamp,
        meter_values: [
          { reference: 'cost', amount: { quantity, currency: 'EUR' } },
          { number, reference: 'tokens' },
        ],
        reference,
        meter_reference: REQUESTS_METER.reference,
        customer_reference: customer,
        meter_properties: [{ value: model, reference: 'model' }],
      })
      fc.assert(
        fc.property(fc.array(texts, { minLength: 1, maxLength: BATCH_MAX }), spacing, (all, space) => {
          const events = all.map(form)
          makeFamiliar(events, 'list')
          expect(expectSame(JSON.stringify(events, null, space), 'list')).toBe(true)
        }),
        { numRuns: 300 },
      )
    },
    PATIENCE_MS,
  )

  test(
    'of a body with some bytes changed, cut or put twice, makes what the other way does or leaves it',
    () => {
      const batch = fc.array(commonEvent, { minLength: 1, maxLength: 2 })
      const change = fc.record({
        at: fc.nat(),
        kind: fc.constantFrom('set', 'insert', 'cut', 'twice'),
        byte: fc.oneof(fc.constantFrom(...Buffer.from('"\\{}[]:,0-. \n\t\0\x7fé')), fc.nat({ max: 255 })),
        length: fc.integer({ min: 1, max: 40 }),
      })
      fc.assert(
        fc.property(
          batch,
          fc.constantFrom<Form>('single', 'list'),
          fc.array(change, { maxLength: 3 }),
          (events, form, changes) => {
            const sent = form === 'single' ? events[0] : events
            makeFamiliar(sent, form)
            let body = Buffer.from(JSON.stringify(sent))
            for (const { at, kind, byte, length } of changes) {
              const from = at % (body.length + 1)
              const [before, part, after] = [
                body.subarray(0, from),
                body.subarray(from, from + length),
                body.subarray(from + length),
              ]
              if (kind === 'set' && from < body.length) body[from] = byte
              if (kind === 'insert') body = Buffer.concat([before, Buffer.from([byte]), part, after])
              if (kind === 'cut') body = Buffer.concat([before, after])
              if (kind === 'twice') body = Buffer.concat([before, part, part, after])
            }
            expectSame(body, form)
          },
        ),
        { numRuns: 3_000 },
      )
    },
    PATIENCE_MS,
  )

  test(
    'of an event with any of its fields replaced, makes what the other way does or leaves it',
    () => {
      const odd = fc.oneof(
        fc.jsonValue({ maxDepth: 2 }),
        fc.string({ unit: 'binary' }),
        fc.constantFrom('requests', 'tokens', 'model', '1', '', '2026-01-01T00:00:00Z', '2026-02-30T00:00:00Z', null),
        fc.constantFrom('x'.repeat(255), 'x'.repeat(256), '2026-01-31T12:30:00.250Z', '2026-01-31T12:30:00.251Z'),
        fc.constantFrom('1e2', '+1', '.5', '5.', '9'.repeat(27), `0.${'1'.repeat(13)}`, 'EURO', 'eur'),
      )
      // Replaces the nth value, at any depth.
      const replace = (value: unknown, at: { left: number }, by: unknown): unknown => {
        at.left -= 1
        if (at.left < 0 && at.left > -2) return by
        if (Array.isArray(value)) return value.map(each => replace(each, at, by))
        if (typeof value !== 'object' || value === null) return value
        return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, replace(each, at, by)]))
      }
      fc.assert(
        fc.property(commonEvent, fc.integer({ min: 1, max: 20 }), odd, (event, at, by) => {
          makeFamiliar(event, 'single')
          expectSame(JSON.stringify(replace(event, { left: at }, by)), 'single')
        }),
        { numRuns: 1_500 },
      )
    },
    PATIENCE_MS,
  )
})

describe('the fast path leaves to the slow one', () => {
  const left = (text: string, form: Form = 'single') => expect(quickly(Buffer.from(text), form)).toBe(null)
  const good = goodEvent()
  test.each<[string, unknown]>([
    ['a null', { ...good, customer_id: null }],
    ['a field it does not know', { ...good, colour: 'red' }],
    ['text that is not plain', { ...good, reference: 'größe' }],
    ['text with an escape', { ...good, reference: 'a"b' }],
    ['two customers', { ...good, customer_id: 'c' }],
    ['two meters', { ...good, meter_id: REQUESTS_METER.id }],
    ['a meter that is not there', { ...good, meter_reference: 'nope' }],
    ['a meter that is not plain', { ...good, meter_reference: ODD_METER.reference }],
    ['an entry named by its id', { ...good, meter_values: [{ id: REQUESTS_METER.values[0]?.id, number: '1' }] }],
    ['a missing value', { ...good, meter_values: [] }],
    ['a missing property', { ...good, meter_properties: [] }],
    ['a time with an offset', { ...good, timestamp: '2026-01-31T10:00:00+01:00' }],
    ['nothing', {}],
  ])('%s', (_, event) => left(JSON.stringify(event)))
  test('a field twice', () => left(JSON.stringify(good).replace('{', '{"reference":"a",')))
  test('an entry twice', () => {
    const [entry] = [{ reference: 'tokens', number: '1' }]
    left(JSON.stringify({ ...good, meter_values: [entry, entry] }))
  })
  test('what stands behind the event', () => left(`${JSON.stringify(good)}{}`))
  test('no event, and more than may come', () => {
    left('[]', 'list')
    left(JSON.stringify(Array.from({ length: BATCH_MAX + 1 }, () => good)), 'list')
  })
  test('a body larger than its own memory', () => left(`${JSON.stringify(good)}${' '.repeat(300 * 1024)}`))
  test('a line that is too long to be stored', () => {
    lines.clear()
    const context = { identity, meters: METERS, now: NOW, batchMax: 1, lineBytesMax: 100 }
    expect(reader.read(Buffer.from(JSON.stringify(good)), 'single', context, lines)).toBe(null)
  })
})

test('a line carries its own hashes', () => {
  const outcome = quickly(Buffer.from(JSON.stringify(goodEvent())), 'single')
  const { idHash, contentHash } = hashesOf(outcome?.lines[0] ?? '')
  expect(outcome?.keys[0]).toEqual(keyOf(idHash, contentHash))
})

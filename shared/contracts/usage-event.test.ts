import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  decodeEvent,
  decodeMessage,
  EVENT_FIELDS,
  encodeEvent,
  encodeMessage,
  eventHash,
  eventId,
  hashesOf,
  idHashOf,
  partitionOf,
} from './usage-event.ts'

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
const eventOf = fc.record({
  platformId: text,
  environment: fc.constantFrom('TEST' as const, 'LIVE' as const),
  reference: text,
  customerKey: text,
  meterReference: text,
  timestampMs: fc.integer({ min: 0, max: 4_102_444_800_000 }),
  receivedAtMs: fc.integer({ min: 0, max: 4_102_444_800_000 }),
  valueReferences: fc.array(text, { maxLength: 3 }),
  valueQuantities: fc.array(fc.constantFrom('1', '-0.5'), { maxLength: 3 }),
  valueCurrencies: fc.array(fc.constantFrom('', 'EUR'), { maxLength: 3 }),
  properties: fc.dictionary(
    text.filter(name => name !== '__proto__'),
    text,
    { maxKeys: 3, noNullPrototype: true },
  ),
  subscription: fc.constantFrom('', '{"id":"x"}'),
})

test('what the gateway writes, the aggregator reads back, whatever the text', () => {
  fc.assert(
    fc.property(fc.array(eventOf, { minLength: 1, maxLength: 5 }), events => {
      const written = events.map(event => ({
        ...event,
        idHash: eventHash(event.platformId, event.environment, event.reference),
      }))
      const lines = written.map(event => encodeEvent(event).line)
      const read = decodeMessage(encodeMessage(lines))
      expect(read).toEqual(lines)
      read.forEach((line, index) => {
        const { contentHash, ...fields } = decodeEvent(line)
        expect(fields).toEqual(written[index])
        expect(hashesOf(line)).toEqual({ idHash: fields.idHash, contentHash })
        expect(JSON.parse(line)).toHaveLength(EVENT_FIELDS.length)
      })
    }),
  )
})

test('the content hash covers what the sender chose, not when it arrived', () => {
  fc.assert(
    fc.property(eventOf, fc.integer({ min: 0, max: 1e12 }), (event, later) => {
      const idHash = eventHash(event.platformId, event.environment, event.reference)
      const first = encodeEvent({ ...event, idHash })
      expect(encodeEvent({ ...event, idHash, receivedAtMs: later }).contentHash).toBe(first.contentHash)
      expect(encodeEvent({ ...event, idHash, customerKey: `${event.customerKey}x` }).contentHash).not.toBe(
        first.contentHash,
      )
    }),
  )
})

test('an event id is the same for every resend, and other for another tenant', () => {
  const live = eventHash('plat_a', 'LIVE', 'r1')
  expect(eventHash('plat_a', 'LIVE', 'r1')).toBe(live)
  expect(new Set([live, eventHash('plat_a', 'TEST', 'r1'), eventHash('plat_b', 'LIVE', 'r1')]).size).toBe(3)
  expect(idHashOf(eventId(live))).toBe(live)
  expect(idHashOf('meda_nonsense')).toBe(null)
})

test('partitions fill evenly', () => {
  const counts = [0, 0, 0, 0]
  for (let index = 0; index < 8_000; index += 1) {
    const partition = partitionOf(eventHash('plat_a', 'LIVE', `r${index}`), 4)
    counts[partition] = (counts[partition] ?? 0) + 1
  }
  for (const count of counts) expect(Math.abs(count - 2_000)).toBeLessThan(200)
})

test('a format this build does not know is refused, not guessed', () => {
  expect(() => decodeMessage('2\n[]')).toThrow(/format 2/)
})

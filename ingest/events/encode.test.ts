import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeEvent, encodeEvent, eventHash, eventId, hashesOf } from '../../shared/contracts/usage-event.ts'
import { formatInstant, instantOf } from '../../shared/time.ts'
import { goodEvent, NOW, ODD_METER, parseText, REQUESTS_METER } from '../testing/samples.ts'
import { encodeUsageEvent, viewOf, wholeSeconds } from './encode.ts'
import type { UsageEvent } from './parse/parse.ts'
import { quoteOf } from './quote.ts'

const tenant = { platformId: 'plat_0000000000000000000001', environment: 'LIVE' } as const
const printable = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  .filter(text => !/[\p{Cc}\p{Cs}]/u.test(text))
const ascii = fc.string({ unit: fc.constantFrom(...'abcXYZ 019!#-_.~'), minLength: 1, maxLength: 20 })

/** What an event may say about its subscription. */
const subscriptionWith = (text: fc.Arbitrary<string>): fc.Arbitrary<Record<string, unknown>> =>
  fc.oneof(
    fc.constant({}),
    text.map(id => ({ pricing_plan_subscription_id: id })),
    text.map(reference => ({ pricing_plan_subscription_reference: reference })),
    text.map(value => ({
      pricing_plan_subscription_selector: {
        data: [{ field: 'PRICING_PLAN_REFERENCE', value }],
        rules: [{ field: 'PRICING_PLAN_REFERENCE', type: 'EQUALS' }],
        filters: [{ field: 'BILLING_ENTITY_REGISTERED_ADDRESS_COUNTRY', type: 'IN', value }],
        fallback: 'NONE',
      },
    })),
  )

const eventWith = (text: fc.Arbitrary<string>): fc.Arbitrary<Record<string, unknown>> =>
  fc.tuple(plainEventWith(text), subscriptionWith(text)).map(([event, subscription]) => ({ ...event, ...subscription }))

const plainEventWith = (text: fc.Arbitrary<string>): fc.Arbitrary<Record<string, unknown>> =>
  fc.record({
    reference: text,
    customer_reference: text,
    meter_reference: fc.constantFrom(REQUESTS_METER.reference),
    timestamp: fc.constantFrom('2026-01-31T10:00:00Z', '2001-01-01T00:00:00.123456+02:00', '1970-01-01T00:00:00Z'),
    meter_values: fc.constantFrom(
      [{ reference: 'tokens', number: '12.5' }],
      [
        { reference: 'cost', amount: { quantity: '-1', currency: 'EUR' } },
        { reference: 'tokens', number: '0' },
      ],
    ),
    meter_properties: text.map(value => [
      { reference: '__proto__', value },
      { reference: 'model', value },
      { reference: '7', value: '7' },
      { reference: 'region', value: 'eu' },
    ]),
  })

const oddEvent = eventWith(ascii).map(
  (event): Record<string, unknown> => ({
    ...event,
    meter_reference: undefined,
    meter_id: ODD_METER.id,
    meter_values: [{ id: ODD_METER.values[0]?.id, number: '1' }],
    meter_properties: [],
  }),
)

function encodeBody(body: Record<string, unknown>): {
  event: UsageEvent
  line: string
  contentHash: string
  idHash: string
  view: string
} {
  const text = JSON.stringify(body)
  const parsed = parseText(text)
  if (parsed.kind === 'reject') throw parsed.error
  const [event] = parsed.events
  if (!event) throw new Error('no event')
  const quote = quoteOf({ plain: /^[ -[\]-~]*$/.test(text) })
  const encoded = encodeUsageEvent(tenant, event, NOW, quote)
  return { event, ...encoded, view: viewOf(event, encoded.idHash, formatInstant(NOW), quote) }
}

const anyEvent = fc.oneof(eventWith(printable), eventWith(ascii), oddEvent)

describe('the line of an event', () => {
  test('is byte for byte what the shared encoder writes, and decodes to what was sent', () => {
    fc.assert(
      fc.property(anyEvent, body => {
        const { event, line, contentHash, idHash } = encodeBody(body)
        const decoded = decodeEvent(line)
        expect(encodeEvent(decoded)).toEqual({ line, contentHash })
        expect(hashesOf(line)).toEqual({ idHash, contentHash })
        expect(idHash).toBe(eventHash(tenant.platformId, 'LIVE', String(body['reference'])))
        expect(decoded).toMatchObject({
          reference: body['reference'],
          customerKey: body['customer_reference'],
          meterReference: event.meter.reference,
          timestampMs: event.timestampMs,
          receivedAtMs: NOW,
          subscription: event.subscription,
        })
        for (const [place, property] of event.meter.properties.entries()) {
          const sent = event.properties[place]
          if (sent !== null)
            expect(Object.getOwnPropertyDescriptor(decoded.properties, property.reference)?.value).toBe(sent)
        }
      }),
    )
  })

  test('has the same content hash whenever it arrives and in whatever order its parts are sent, and another for other content', () => {
    const values = [
      { reference: 'tokens', number: '1' },
      { reference: 'cost', amount: { quantity: '1', currency: 'EUR' } },
    ]
    const first = encodeBody({ ...goodEvent(), meter_values: values })
    expect(encodeBody({ ...goodEvent(), meter_values: values.toReversed() }).contentHash).toBe(first.contentHash)
    expect(encodeUsageEvent(tenant, first.event, instantOf(NOW + 5_000), quoteOf({ plain: true })).contentHash).toBe(
      first.contentHash,
    )
    expect(encodeBody({ ...goodEvent(), customer_reference: 'other' }).contentHash).not.toBe(first.contentHash)
    expect(encodeBody({ ...goodEvent(), timestamp: '2026-01-31T10:00:01Z' }).contentHash).not.toBe(first.contentHash)
  })
})

describe('the answer to an event', () => {
  test('is JSON that says what was sent, with the ids resolved', () => {
    fc.assert(
      fc.property(anyEvent, body => {
        const { event, idHash, view } = encodeBody(body)
        const measured = event.values.flatMap((value, place) => {
          if (value === null) return []
          const { id, reference } = event.meter.values[place] ?? { id: '', reference: '' }
          const { quantity, currency } = value
          return [
            currency === '' ? { id, reference, number: quantity } : { id, reference, amount: { quantity, currency } },
          ]
        })
        expect(JSON.parse(view)).toEqual({
          object_type: 'METER_DATA',
          id: eventId(idHash),
          reference: body['reference'],
          type: 'INGEST',
          customer_reference: body['customer_reference'],
          meter_id: event.meter.id,
          meter_reference: event.meter.reference,
          timestamp: formatInstant(event.timestampMs),
          created_at: '2026-01-31T12:00:00Z',
          meter_properties: event.properties.flatMap((value, place) => {
            if (value === null) return []
            const { id, reference } = event.meter.properties[place] ?? { id: '', reference: '' }
            return [{ id, reference, value }]
          }),
          meter_values: measured,
          ...Object.fromEntries(Object.entries(body).filter(([name]) => name.startsWith('pricing_plan_subscription_'))),
        })
      }),
    )
  })

  test('tells whole seconds as formatInstant does', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Date.UTC(2199, 11, 31) }), ms => {
        expect(wholeSeconds(instantOf(ms))).toBe(formatInstant(instantOf(ms)))
      }),
    )
  })
})

// A meter and events for the tests of the gateway.

import { instantOf } from '../../shared/time.ts'
import { createMeter, createMeterSet } from '../events/parse/meter.ts'
import { type ParseContext, parseBatch, parseSingle } from '../events/parse/parse.ts'
import { createTimestampReader } from '../events/parse/timestamp.ts'
import { parseJson } from '../http/parse-json.ts'

export const NOW = instantOf(Date.UTC(2026, 0, 31, 12, 0, 0, 250))

export const REQUESTS_METER = createMeter({
  id: 'metr_0000000000000000000001',
  reference: 'requests',
  values: [
    { id: 'metv_0000000000000000000001', reference: 'tokens', type: 'NUMBER', required: true },
    { id: 'metv_0000000000000000000002', reference: 'cost', type: 'AMOUNT', required: false },
  ],
  properties: [
    {
      id: 'metp_0000000000000000000001',
      reference: 'region',
      type: 'ENUM',
      enumValues: new Set(['eu', 'us']),
      required: false,
    },
    { id: 'metp_0000000000000000000002', reference: 'model', type: 'STRING', enumValues: new Set(), required: true },
    { id: 'metp_0000000000000000000003', reference: '7', type: 'NUMBER', enumValues: new Set(), required: false },
    {
      id: 'metp_0000000000000000000004',
      reference: '__proto__',
      type: 'STRING',
      enumValues: new Set(),
      required: false,
    },
  ],
})

/** References of this one need escapes. */
export const ODD_METER = createMeter({
  id: 'metr_0000000000000000000002',
  reference: 'größe "x"',
  values: [{ id: 'metv_0000000000000000000003', reference: 'bytes\\', type: 'NUMBER', required: true }],
  properties: [],
})

export const METERS = createMeterSet([REQUESTS_METER, ODD_METER])

export const goodEvent = (): Record<string, unknown> => ({
  reference: 'req-1',
  customer_reference: 'acme',
  meter_reference: 'requests',
  timestamp: '2026-01-31T10:00:00Z',
  meter_values: [{ reference: 'tokens', number: '12.5' }],
  meter_properties: [{ reference: 'model', value: 'm-1' }],
})

/** Parses JSON text the way a request's body is. */
export function parseText(text: string, form: 'single' | 'list' = 'single', batchMax = 50) {
  const { value, scan } = parseJson(Buffer.from(text))
  const context: ParseContext = { scan, meters: METERS, now: NOW, batchMax, readTimestamp: createTimestampReader() }
  return form === 'single' ? parseSingle(value, context) : parseBatch(value, context)
}

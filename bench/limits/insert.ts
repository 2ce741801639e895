// The limit for the way into ClickHouse: one client that inserts the same rows, made beforehand, and does nothing else.
import { migrateClickHouse } from '../../aggregator/clickhouse/migrate.ts'
import { eventRow } from '../../aggregator/steps/rows.ts'
import { encodeEvent, eventHash } from '../../shared/contracts/usage-event.ts'
import { createClickHouse, insertLines } from '../../shared/usage/clickhouse.ts'
import { METER_REFERENCE, PROPERTY_REFERENCE, VALUE_REFERENCES } from '../load/events.ts'

const BLOCK = 20_000
const BLOCKS = 15
const PLATFORM = 'plat_0000000000000000000000'

function row(index: number): string {
  const reference = `req-limit-${index.toString().padStart(12, '0')}`
  const place = index % 50
  const { line, contentHash } = encodeEvent({
    idHash: eventHash(PLATFORM, 'LIVE', reference),
    platformId: PLATFORM,
    environment: 'LIVE',
    reference,
    customerKey: `customer-${place % 7}`,
    meterReference: METER_REFERENCE,
    timestampMs: Date.UTC(2026, 0, 16, 18, 17, place, 979),
    receivedAtMs: Date.UTC(2026, 0, 16, 18, 18),
    valueReferences: [...VALUE_REFERENCES],
    valueQuantities: [String(4808 + place), String(10 + place)],
    valueCurrencies: ['', ''],
    properties: { [PROPERTY_REFERENCE]: 'code-1' },
    subscription: '',
  })
  const record = { text: line, seq: index + 1, line: 0, idHash: line.slice(2, 34), contentHash }
  return eventRow(0, record as Parameters<typeof eventRow>[1])
}

const [url = '', database = ''] = process.argv.slice(2)
await migrateClickHouse(url, database)
const client = createClickHouse(url, database)
const blocks = Array.from({ length: BLOCKS }, (_, block) =>
  Array.from({ length: BLOCK }, (_each, index) => row(block * BLOCK + index)),
)
const startedAt = performance.now()
for (const block of blocks) await insertLines(client, 'usage_events', block)
const seconds = (performance.now() - startedAt) / 1000
await client.close()
console.log(JSON.stringify({ events: BLOCK * BLOCKS, eventsPerSecond: (BLOCK * BLOCKS) / seconds }))

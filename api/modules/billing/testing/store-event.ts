// An event in ClickHouse, as the aggregator would have stored it.
import type { ClickHouseClient } from '../../../../shared/usage/clickhouse.ts'
import type { TestTenant } from '../../../testing/harness.ts'

type StoredEvent = {
  /** Its place in the log; the number is its own in the database. */
  readonly position: readonly [partition: number, seq: number]
  /** The customer, the meter and its value as events name them. */
  readonly customer: string
  readonly meter: string
  readonly value: string
  readonly quantity: string
  /** As ClickHouse writes it: `2026-03-01 00:00:00.000`. */
  readonly timestamp: string
  readonly properties?: Readonly<Record<string, string>>
}

/** Stores one event, and marks its hour as changed. */
export async function storeEvent(client: ClickHouseClient, { tenant }: TestTenant, of: StoredEvent): Promise<void> {
  const [partition, seq] = of.position
  const hash = seq.toString(16).padStart(32, '0')
  await client.insert({
    table: 'usage_events',
    format: 'JSONEachRow',
    values: [
      {
        id_hash: hash,
        content_hash: hash.slice(16),
        platform_id: tenant.platformId,
        environment: tenant.environment,
        reference: `event-${seq}`,
        customer_key: of.customer,
        meter_reference: of.meter,
        timestamp: of.timestamp,
        received_at: of.timestamp,
        value_references: [of.value],
        value_quantities: [of.quantity],
        value_currencies: [''],
        properties: of.properties ?? {},
        subscription: '',
        log_partition: partition,
        log_seq: seq,
        log_line: 1,
        version: seq,
        deleted: 0,
      },
    ],
  })
  await client.command({
    query: `INSERT INTO usage_bucket_marks SELECT platform_id, environment, customer_key, meter_reference, toStartOfHour(timestamp), log_partition, log_seq FROM usage_events WHERE id_hash = '${hash}'`,
  })
}

// The history of an event: every amendment of it, and what each replaced.
import type { Tenant } from '../../shared/tenant.ts'
import { type Instant, instantOf } from '../../shared/time.ts'
import { type ClickHouseClient, selectRows } from '../../shared/usage/clickhouse.ts'
import type { LogPlace } from './event-cursor.ts'
import type { EventValue } from './stored-events.ts'
import { tenantFilter } from './usage-sql.ts'

export type Measured = {
  readonly values: readonly EventValue[]
  readonly properties: Readonly<Record<string, string>>
}
export type StoredAmendment = {
  readonly place: LogPlace
  readonly receivedAt: Instant
  /** '' when not known. */
  readonly actorId: string
  readonly requestId: string
  readonly reason: string
  readonly after: Measured
  readonly before: Measured
  /** False when the event had been deleted before. */
  readonly applied: boolean
}

type AmendmentRow = [
  partition: number,
  seq: string,
  line: number,
  receivedAt: string,
  actorId: string,
  requestId: string,
  reason: string,
  ...after: MeasuredRow,
  ...before: MeasuredRow,
  applied: number,
]
type MeasuredRow = [
  references: string[],
  quantities: string[],
  currencies: string[],
  properties: Record<string, string>,
]

/** More amendments of one event than this are not shown; the first ones are. */
const AMENDMENTS_MAX = 1_000

/** The amendments of an event in the order in which they took effect. */
export async function loadAmendments(
  client: ClickHouseClient,
  tenant: Tenant,
  idHash: string,
): Promise<StoredAmendment[]> {
  const filter = tenantFilter(tenant)
  const rows = await selectRows<AmendmentRow>(
    client,
    `SELECT log_partition, log_seq, log_line, toUnixTimestamp64Milli(received_at), actor_id, request_id, reason,
       value_references, value_quantities, value_currencies, properties,
       previous_value_references, previous_value_quantities, previous_value_currencies, previous_properties, applied
     FROM usage_amendments FINAL WHERE ${filter.scope} AND id_hash = ${filter.bind(idHash, 'String')}
     ORDER BY log_seq, log_line LIMIT ${AMENDMENTS_MAX}`,
    filter.params,
  )
  return rows.map(amendmentOf)
}

function amendmentOf(row: AmendmentRow): StoredAmendment {
  const [partition, seq, line, receivedAt, actorId, requestId, reason, a, b, c, d, e, f, g, h, applied] = row
  return {
    place: { partition, seq: Number(seq), line },
    receivedAt: instantOf(Number(receivedAt)),
    actorId,
    requestId,
    reason,
    after: measuredOf([a, b, c, d]),
    before: measuredOf([e, f, g, h]),
    applied: applied === 1,
  }
}

const measuredOf = ([references, quantities, currencies, properties]: MeasuredRow): Measured => ({
  values: references.map((reference, place) => ({
    reference,
    quantity: quantities[place] ?? '0',
    currency: currencies[place] ?? '',
  })),
  properties,
})

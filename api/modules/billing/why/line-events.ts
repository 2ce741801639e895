// The individual events behind a line, in order of time, paged by a cursor.
import { eventId } from '../../../../shared/contracts/usage-event.ts'
import { decimal, plain } from '../../../../shared/decimal.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { pageOf } from '../../../http/pagination.ts'
import { cursorNotFound, type FeedSlice, sliceView } from '../../../list/slice.ts'
import type { CountedEvent } from '../../../usage/counted-events.ts'
import { parseCursor } from '../../../usage/event-cursor.ts'
import type { Charge } from '../charges/charge.ts'
import type { UsageReader } from '../usage/usage-reader.ts'
import { countingOf, eventsOf } from './counted.ts'
import type { Basis } from './reprice.ts'

/** Events that one read scans; few of a customer's events may belong to the line. */
const READ_MAX = 1_000

type Query = { readonly limit?: string; readonly starting_after?: string }

/**
 * One page of the events that a charge counts; all charges of a line together. Throws INVALID_FIELD for an invalid
 * cursor.
 */
export async function listLineEvents(
  deps: { readonly usage: UsageReader },
  of: {
    readonly tenant: Tenant
    readonly path: string
    readonly basis: Basis
    readonly charge: Charge | null
    readonly query: Query
  },
): Promise<object> {
  const { tenant, path, basis, charge, query } = of
  const { limit } = pageOf(query.limit === undefined ? {} : { limit: query.limit })
  const slice: FeedSlice =
    query.starting_after === undefined ? { kind: 'START', limit } : { kind: 'AFTER', id: query.starting_after, limit }
  const found = await readOn(deps.usage, { tenant, basis, charge, slice })
  const data = found.slice(0, limit).map(viewOf)
  return sliceView(path, query, {
    slice,
    sliced: { rows: data.map(({ id }) => ({ id })), more: found.length > limit, total: null },
    data,
  })
}

type Found = { readonly event: CountedEvent; readonly before: boolean }
type Reading = {
  readonly tenant: Tenant
  readonly basis: Basis
  readonly charge: Charge | null
  readonly slice: FeedSlice
}

/** The events after the cursor, at least one more than the limit if there are more. */
async function readOn(usage: UsageReader, { tenant, basis, charge, slice }: Reading): Promise<Found[]> {
  const where = charge && eventsOf(basis, [charge])
  const counting = charge && countingOf(basis, charge)
  if (!where || !counting) {
    if (slice.kind === 'START') return []
    throw cursorNotFound(slice)
  }
  const asked = { ...where, upTo: basis.positions }
  const found: Found[] = []
  let after: Pick<CountedEvent, 'timestamp' | 'idHash'> | null = null
  if (slice.kind !== 'START') {
    const idHash = parseCursor(slice.id)?.idHash
    const [cursor] = idHash === undefined ? [] : await usage.events(tenant, { ...asked, idHash })
    if (!cursor) throw cursorNotFound(slice)
    after = cursor
  }
  for (;;) {
    const next: readonly CountedEvent[] = await usage.events(tenant, {
      ...asked,
      ...(after ? { after } : {}),
      limit: READ_MAX,
    })
    for (const event of next) {
      const counted = counting(event)
      if (counted !== null) found.push({ event, before: counted === 'BEFORE' })
    }
    after = next.at(-1) ?? after
    if (next.length < READ_MAX || found.length > slice.limit) return found
  }
}

function viewOf({ event, before }: Found) {
  return {
    object_type: 'INVOICE_LINE_EVENT',
    id: eventId(event.idHash),
    reference: event.reference,
    timestamp: formatInstant(event.timestamp),
    customer_key: event.customerKey,
    meter_reference: event.meterReference,
    meter_values: event.values.map(({ reference, quantity, currency }) => {
      const number = plain(decimal(quantity))
      return currency === '' ? { reference, number } : { reference, amount: { quantity: number, currency } }
    }),
    meter_properties: Object.entries(event.properties).map(([reference, value]) => ({ reference, value })),
    content_hash: event.contentHash,
    previously_billed: before,
    ...(event.since === null ? {} : { change: event.since }),
  }
}

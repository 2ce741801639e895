// What a sender knows: every event it ever sent, the id it was answered with, and whether the answer came. Only ever
// added to, and apart from the product: it is what the product is held against.
import { METER_REFERENCE, PROPERTY_REFERENCE, VALUE_REFERENCES } from '../load/events.ts'

/** An event of the benchmark's meter, as a sender thinks of it. */
export type SentEvent = {
  readonly reference: string
  readonly customer: string
  readonly timestampMs: number
  /** Plain decimals, one for each of VALUE_REFERENCES. */
  readonly quantities: readonly [string, string]
  readonly model: string
}

export type LedgerEntry = {
  readonly event: SentEvent
  /** Null until an answer came. */
  readonly id: string | null
}

export type Ledger = {
  /** Every reference sent, with its content and, once acknowledged, its id. */
  readonly entries: ReadonlyMap<string, LedgerEntry>
  readonly acked: number
  /** Before a request goes out. Throws when the reference was sent with other content: a ledger has one truth each. */
  sending(event: SentEvent): void
  /** After a 201. Throws when the id differs from that of an earlier answer. */
  answered(reference: string, id: string): void
}

export function createLedger(): Ledger {
  const entries = new Map<string, LedgerEntry>()
  let acked = 0
  return {
    entries,
    get acked() {
      return acked
    },
    sending: event => {
      const known = entries.get(event.reference)
      if (!known) entries.set(event.reference, { event, id: null })
      else if (contentOf(known.event) !== contentOf(event)) throw new Error(`${event.reference} has other content now`)
    },
    answered: (reference, id) => {
      const known = entries.get(reference)
      if (!known) throw new Error(`an answer for ${reference}, which was never sent`)
      if (known.id !== null && known.id !== id) throw new Error(`${reference} was answered with ${known.id} and ${id}`)
      if (known.id === null) acked += 1
      entries.set(reference, { event: known.event, id })
    },
  }
}

/** All of an event but its reference, as one comparable text. */
export const contentOf = ({ customer, timestampMs, quantities, model }: SentEvent): string =>
  JSON.stringify([customer, timestampMs, quantities.map(scaled).map(String), model])

const PLACES = 12

/** A plain decimal as a whole number of 10^-12, so that sums are exact without the product's own arithmetic. */
export function scaled(quantity: string): bigint {
  const [whole = '', fraction = ''] = quantity.replace('-', '').split('.')
  const digits = BigInt(whole + fraction.padEnd(PLACES, '0'))
  return quantity.startsWith('-') ? -digits : digits
}

/** The body of one event on the wire. */
export const wireEvent = ({ reference, customer, timestampMs, quantities, model }: SentEvent): object => ({
  reference,
  meter_reference: METER_REFERENCE,
  customer_reference: customer,
  timestamp: new Date(timestampMs).toISOString(),
  meter_values: VALUE_REFERENCES.map((value, place) => ({ reference: value, number: quantities[place] })),
  meter_properties: [{ reference: PROPERTY_REFERENCE, value: model }],
})

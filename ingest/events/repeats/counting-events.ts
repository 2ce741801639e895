// What answers a repeat: the event that counts, as the log has it, or the store when the log has it no more.
import {
  decodeEvent,
  decodeMessage,
  type EventRecord,
  eventId,
  idHashOf,
} from '../../../shared/contracts/usage-event.ts'
import { groupBy } from '../../../shared/group-by.ts'
import { instantOf } from '../../../shared/time.ts'
import { propertyOf } from '../../../shared/usage/condition.ts'
import { viewOf, wholeSeconds } from '../encode.ts'
import type { MeterSet } from '../parse/meter.ts'
import type { Repeat } from '../publish.ts'
import { lineOf, seqOf } from './place.ts'

/** The body of a message of the log; null when the log does not hold it any more. */
export type ReadMessage = (partition: number, seq: number) => Promise<string | null>
/** The line of an event as it is stored; null when it is not. */
export type ReadEvent = (partition: number, idHash: string) => Promise<string | null>

/** Messages that are read at once for one answer: each may hold nearly a megabyte. */
const READ_AT_ONCE = 4
/** Messages that are read for one answer, since the sender waits for them. */
const MESSAGES_MAX = 200
/** Events that are read from the store for one answer: each is a statement of its own. */
const STORED_MAX = 10

/**
 * `answer`, an event or a list of them, with the events that count in the place of the repeats. One that cannot be read now, whose
 * meter is not active any more, or that lies in one message too many, stays as it was sent. Amendments and deletions are not shown.
 */
export async function showCounting(
  answer: Uint8Array,
  repeats: readonly Repeat[],
  from: { readonly read: ReadMessage; readonly stored: ReadEvent; readonly meters: MeterSet },
): Promise<Uint8Array> {
  const body: unknown = JSON.parse(Buffer.from(answer).toString('utf8'))
  const views = viewsIn(body)
  const byMessage = [...groupBy(repeats, ({ partition, place }) => `${partition}/${seqOf(place)}`).values()]
  const left = byMessage.slice(0, MESSAGES_MAX)
  const missing: Repeat[] = []
  const showNext = async (): Promise<void> => {
    for (let own = left.shift(); own !== undefined; own = left.shift()) {
      const lines = await linesOf(own, from.read)
      // The log does not answer, or has what this build cannot read: the sender does not wait for more of it.
      if (lines === null) left.length = 0
      else
        for (const repeat of own)
          if (!show(views, repeat, lines[lineOf(repeat.place)], from.meters)) missing.push(repeat)
    }
  }
  await Promise.all(Array.from({ length: READ_AT_ONCE }, showNext))
  await showStored(views, missing.slice(0, STORED_MAX), from)
  return Buffer.from(JSON.stringify(body))
}

/** Shows what the log has no more. One that is not answered ends it: the sender waits. */
async function showStored(
  views: readonly View[],
  missing: readonly Repeat[],
  from: { readonly stored: ReadEvent; readonly meters: MeterSet },
): Promise<void> {
  try {
    for (const repeat of missing) {
      const idHash = idHashOf(String(views[repeat.line]?.['id']))
      const text = idHash === null ? null : await from.stored(repeat.partition, idHash)
      show(views, repeat, text ?? undefined, from.meters)
    }
  } catch {
    // What was sent stays in the answer.
  }
}

/** The lines of the message that holds all of these, none when the log does not hold it any more; null when it cannot be read. */
async function linesOf([first]: readonly Repeat[], read: ReadMessage): Promise<readonly string[] | null> {
  if (!first) return []
  try {
    const message = await read(first.partition, seqOf(first.place))
    return message === null ? [] : decodeMessage(message)
  } catch {
    return null
  }
}

/** Puts the event of `text`, a line of the log, in the place of its repeat; false when it is not there. */
function show(views: readonly View[], { line }: Repeat, text: string | undefined, meters: MeterSet): boolean {
  const record = text === undefined ? null : decodeEvent(text)
  // The same id: what is remembered of the log and the log itself say is one event.
  if (record === null || eventId(record.idHash) !== views[line]?.['id']) return false
  const view = viewOfRecord(record, meters, views[line])
  if (view !== null) Object.assign(replaced(views, line), view)
  return true
}

type View = Record<string, unknown>

const viewsIn = (body: unknown): View[] => {
  if (Array.isArray(body)) return body
  const { meter_datas: list } = body as { readonly meter_datas?: View[] }
  return list ?? [body as View]
}

/** The object of a view, empty. */
function replaced(views: readonly View[], line: number): View {
  const view = views[line] ?? {}
  for (const name of Object.keys(view)) delete view[name]
  return view
}

/** As the event was answered when it came; null when its meter is not known. */
function viewOfRecord(record: EventRecord, meters: MeterSet, sent: View | undefined): View | null {
  const meter = meters.byReference.get(record.meterReference)
  if (!meter) return null
  const values = meter.values.map(({ reference }) => {
    const at = record.valueReferences.indexOf(reference)
    const quantity = record.valueQuantities[at]
    return quantity === undefined ? null : { quantity, currency: record.valueCurrencies[at] ?? '' }
  })
  const event = {
    reference: record.reference,
    customerField: customerFieldOf(record.customerKey, sent),
    customerKey: record.customerKey,
    meter,
    timestampMs: instantOf(record.timestampMs),
    values,
    properties: meter.properties.map(({ reference }) => propertyOf(record.properties, reference) ?? null),
    subscription: record.subscription,
  }
  return JSON.parse(viewOf(event, record.idHash, wholeSeconds(instantOf(record.receivedAtMs)), JSON.stringify)) as View
}

/** The log does not say whether the customer was named by id; the repeat does, when it names the same. */
function customerFieldOf(key: string, sent: View | undefined): 'customer_id' | 'customer_reference' {
  if (sent?.['customer_id'] === key) return 'customer_id'
  if (sent?.['customer_reference'] === key) return 'customer_reference'
  return /^cust_[0-9A-Za-z]{22}$/.test(key) ? 'customer_id' : 'customer_reference'
}

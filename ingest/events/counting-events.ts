// What answers a repeat with other content: the event that counts, as the log has it.
import { decodeEvent, decodeMessage, type EventRecord } from '../../shared/contracts/usage-event.ts'
import { instantOf } from '../../shared/time.ts'
import { viewOf, wholeSeconds } from './encode.ts'
import type { MeterSet } from './meter.ts'
import { lineOf, seqOf } from './place.ts'
import type { DifferingRepeat } from './publish.ts'

/** The body of a message of the log; null when the log does not hold it any more. */
export type ReadMessage = (partition: number, seq: number) => Promise<string | null>

/**
 * `answer`, an event or a list of them, with the events that count in the place of the repeats (issue 12, item 15). One that the log
 * cannot show now, or whose meter is not active any more, stays as it was sent; so do amendments and deletions leave no trace here.
 */
export async function showCounting(
  answer: Uint8Array,
  repeats: readonly DifferingRepeat[],
  from: { readonly read: ReadMessage; readonly meters: MeterSet },
): Promise<Uint8Array> {
  const body: unknown = JSON.parse(Buffer.from(answer).toString('utf8'))
  const views = viewsIn(body)
  await Promise.all(
    repeats.map(async ({ line, partition, place }) => {
      const message = await from.read(partition, seqOf(place)).catch(() => null)
      const text = message === null ? undefined : decodeMessage(message)[lineOf(place)]
      const view = text === undefined ? null : viewOfRecord(decodeEvent(text), from.meters, views[line])
      // The same id: what the memory of the gateway and the log say is one event.
      if (view?.['id'] === views[line]?.['id']) Object.assign(replaced(views, line), view)
    }),
  )
  return Buffer.from(JSON.stringify(body))
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
    properties: meter.properties.map(({ reference }) => record.properties[reference] ?? null),
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

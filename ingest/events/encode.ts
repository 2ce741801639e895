// A usage event to its line in the log and its view in the answer. Both are written straight to text: building objects to
// serialise them took as long as everything else the gateway does to an event.
import { eventHash, eventId, joinEvent, wireTime } from '../../shared/contracts/usage-event.ts'
import type { Environment } from '../../shared/tenant.ts'
import { formatInstant, type Instant } from '../../shared/time.ts'
import type { UsageEvent } from './parse/parse.ts'
import { subscriptionMembers } from './parse/parse-subscription.ts'
import type { Quote } from './quote.ts'

export type EncodedEvent = { readonly idHash: string; readonly contentHash: string; readonly line: string }

/** The log line of an event of a tenant: what encodeEvent would write, put together from texts the meter has ready. */
export function encodeUsageEvent(
  tenant: { readonly platformId: string; readonly environment: Environment },
  event: UsageEvent,
  receivedAt: Instant,
  quote: Quote,
): EncodedEvent {
  const { meter } = event
  const idHash = eventHash(tenant.platformId, tenant.environment, event.reference)
  let references = ''
  let quantities = ''
  let currencies = ''
  for (let place = 0; place < event.values.length; place += 1) {
    const value = event.values[place]
    if (!value) continue
    const comma = quantities === '' ? '' : ','
    references += comma + meter.valueQuoted[place]
    quantities += `${comma}"${value.quantity}"`
    currencies += `${comma}"${value.currency}"`
  }
  let properties = ''
  for (const place of meter.propertyOrder) {
    const text = event.properties[place]
    if (text === null || text === undefined) continue
    properties += `${properties === '' ? '' : ','}${meter.propertyQuoted[place]}:${quote(text)}`
  }
  const before = `[${tenantText(tenant)},${quote(event.reference)},${quote(event.customerKey)},${meter.quoted},"${wireTime(event.timestampMs)}"]`
  const after = `[[${references}],[${quantities}],[${currencies}],{${properties}},${subscriptionText(event.subscription)}]`
  const { line, contentHash } = joinEvent(idHash, before, after, receivedAt)
  return { idHash, contentHash, line }
}

// A selector is JSON itself, so it needs escapes even where nothing the sender wrote does.
const subscriptionText = (key: string): string => (key === '' ? '""' : JSON.stringify(key))

// Our ids need no escape.
const tenantText = (tenant: { readonly platformId: string; readonly environment: Environment }): string =>
  `"${tenant.platformId}","${tenant.environment}"`

/** JSON text of the MeterData that answers an accepted event. `createdAt` is wire text. What becomes of it is decided later. */
export function viewOf(event: UsageEvent, idHash: string, createdAt: string, quote: Quote): string {
  const { meter } = event
  let properties = ''
  for (let place = 0; place < event.properties.length; place += 1) {
    const text = event.properties[place]
    if (text === null || text === undefined) continue
    properties += `${properties === '' ? '' : ','}{${meter.propertyKeys[place]},"value":${quote(text)}}`
  }
  let values = ''
  for (let place = 0; place < event.values.length; place += 1) {
    const value = event.values[place]
    if (!value) continue
    const measure =
      value.currency === ''
        ? `"number":"${value.quantity}"`
        : `"amount":{"quantity":"${value.quantity}","currency":"${value.currency}"}`
    values += `${values === '' ? '' : ','}{${meter.valueKeys[place]},${measure}}`
  }
  return (
    `{"object_type":"METER_DATA","id":"${eventId(idHash)}","reference":${quote(event.reference)},"type":"INGEST",` +
    `"${event.customerField}":${quote(event.customerKey)},${meter.keys},${subscriptionMembers(event.subscription)}` +
    `"timestamp":"${wholeSeconds(event.timestampMs)}","created_at":"${createdAt}",` +
    `"meter_properties":[${properties}],"meter_values":[${values}]}`
  )
}

let lastDay = Number.NaN
let lastDayText = ''
const TWO_DIGITS = Array.from({ length: 60 }, (_, value) => value.toString().padStart(2, '0'))

/** As formatInstant; the text of the day is kept, because the next event most often has the same. */
export function wholeSeconds(at: Instant): string {
  const day = Math.floor(at / 86_400_000)
  if (day !== lastDay) {
    lastDay = day
    lastDayText = formatInstant(at).slice(0, 11)
  }
  const seconds = Math.floor(at / 1000) - day * 86_400
  const hours = Math.floor(seconds / 3600)
  const minutes = Math.floor(seconds / 60) - hours * 60
  return `${lastDayText}${TWO_DIGITS[hours]}:${TWO_DIGITS[minutes]}:${TWO_DIGITS[seconds % 60]}Z`
}

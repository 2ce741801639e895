// The plain reading of the log, one record after the other: what the tables must say, whatever happened on the way.
import { hourOfEvent, meterOf } from './tables.ts'

export type PlainEvent = { readonly place: string; fields: readonly unknown[]; deleted: boolean }
export type Reading = {
  /** By id hash. */
  readonly events: Map<string, PlainEvent>
  /** By place: the place that counts, and 1 when the content differs. */
  readonly duplicates: Map<string, string>
  readonly deadLetters: Map<string, string>
  /** By place: what the event became, what it was, and 1 when it could still be changed. */
  readonly amendments: Map<string, string>
  /** Marks of this partition, by bucket. */
  readonly marks: Map<string, number>
}

export const createReading = (): Reading => ({
  events: new Map(),
  duplicates: new Map(),
  deadLetters: new Map(),
  amendments: new Map(),
  marks: new Map(),
})

/** Reads the next message of a partition. */
export function readMessage(reading: Reading, partition: number, { seq, body }: { seq: number; body: string }): void {
  for (const [line, text] of body.split('\n').slice(1).entries()) {
    readRecord(reading, `${partition}/${seq}/${line}`, JSON.parse(text), seq)
  }
}

function readRecord(reading: Reading, place: string, record: unknown, seq: number): void {
  if (Array.isArray(record)) readEvent(reading, place, record, seq)
  else readControl(reading, place, record as Record<string, unknown>, seq)
}

function readControl(reading: Reading, place: string, control: Record<string, unknown>, seq: number): void {
  const kind = 'amend' in control ? 'AMEND' : 'DELETE'
  const event = reading.events.get(String(control['amend'] ?? control['delete']))
  if (event === undefined) {
    reading.deadLetters.set(place, `${kind}_UNKNOWN`)
    return
  }
  if (kind === 'DELETE') event.deleted = true
  else amend(reading, place, event, control)
  reading.marks.set(bucketOf(event.fields), seq)
}

function readEvent(reading: Reading, place: string, fields: readonly unknown[], seq: number): void {
  const idHash = String(fields[0])
  const known = reading.events.get(idHash)
  if (known) {
    reading.duplicates.set(place, `${known.place} ${known.fields[1] === fields[1] ? 0 : 1}`)
    return
  }
  reading.events.set(idHash, { place, fields, deleted: false })
  reading.marks.set(bucketOf(fields), seq)
}

function amend(reading: Reading, place: string, event: PlainEvent, control: Record<string, unknown>): void {
  const { value_references, value_quantities, value_currencies, properties } = control
  const after = [...event.fields]
  after.splice(9, 4, value_references, value_quantities, value_currencies, properties ?? after[12])
  reading.amendments.set(place, historyText(after.slice(9, 13), event.fields.slice(9, 13), event.deleted ? 0 : 1))
  if (!event.deleted) event.fields = after
}

export const historyText = (after: readonly unknown[], before: readonly unknown[], applied: unknown): string =>
  JSON.stringify([after, before, applied])

/** As a mark of the tables is named, without its partition. */
export const bucketOf = (fields: readonly unknown[]): string =>
  JSON.stringify([meterOf(fields), fields[5], hourOfEvent(fields)])

// What the tables must hold, read from a log one line after another.
import { hashesOf } from '../../shared/contracts/usage-event.ts'
import { type Bucket, bucketKey, hourOf, type LogMessage } from '../outcome.ts'

export type Tables = {
  events: Map<string, string>
  duplicates: Set<string>
  dead: Set<string>
  marks: Map<string, number>
  /** By place: what the event became, what it was, and whether it could still be changed. */
  amendments: Map<string, string>
}
/** The values and properties of a line or row, as the history keeps them. */
const measured = (fields: readonly unknown[]): string => JSON.stringify(fields.slice(9, 13))

const noTables = (): Tables => ({
  events: new Map(),
  duplicates: new Set(),
  dead: new Set(),
  marks: new Map(),
  amendments: new Map(),
})

/** What the tables must hold once the first `upTo` messages of a partition are stored. */
export function readPlainly(log: Map<number, LogMessage[]>, upTo: (partition: number) => number): Tables {
  const tables = noTables()
  for (const [partition, messages] of log) {
    const known: PlainEvents = new Map()
    for (const { seq, body } of messages.slice(0, upTo(partition))) {
      for (const [line, text] of body.split('\n').slice(1).entries()) {
        const place = `${partition}/${seq}/${line}`
        const changed = readLinePlainly(tables, known, { place, text })
        if (changed) tables.marks.set(`${partition}/${bucketKey(bucketOf(changed.text))}`, seq)
        if (changed) tables.events.set(hashesOf(changed.text).idHash, eventText(changed))
      }
    }
  }
  return tables
}

type PlainEvent = { place: string; text: string; deleted: boolean }
type PlainEvents = Map<string, PlainEvent>

/** The event that the line makes or touches. */
function readLinePlainly(tables: Tables, known: PlainEvents, of: { place: string; text: string }): PlainEvent | null {
  const { place, text } = of
  if (text.startsWith('[')) {
    const { idHash } = hashesOf(text)
    if (known.has(idHash)) {
      tables.duplicates.add(place)
      return null
    }
    const event = { place, text, deleted: false }
    known.set(idHash, event)
    return event
  }
  const control = text.startsWith('{') ? JSON.parse(text) : {}
  const event = known.get(control.delete ?? control.amend)
  if (event === undefined) tables.dead.add(place)
  else if (control.delete) event.deleted = true
  else amendPlainly(tables, event, { place, control })
  return event ?? null
}

const eventText = ({ place, text, deleted }: PlainEvent): string => `${place} ${text}${deleted ? ' deleted' : ''}`

function amendPlainly(
  tables: Tables,
  known: PlainEvent,
  { place, control }: { place: string; control: Record<string, unknown> },
): void {
  const before: unknown[] = JSON.parse(known.text)
  const { value_references, value_quantities, value_currencies, properties } = control
  const after = [...before]
  after.splice(9, 4, value_references, value_quantities, value_currencies, properties ?? before[12])
  tables.amendments.set(place, `${measured(after)} ${measured(before)} ${known.deleted ? 0 : 1}`)
  if (!known.deleted) known.text = JSON.stringify(after)
}

export function bucketOf(text: string): Bucket {
  const [, , platformId, environment, , customerKey, meterReference, timestamp] = JSON.parse(text)
  return { platformId, environment, customerKey, meterReference, hour: hourOf(Number(timestamp)) }
}

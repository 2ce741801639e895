// Amendments onto stored rows. Pure. Whatever is read again, by whomever, the newest row of an event holds what the last
// amendment before its deletion said, and the history holds each amendment once with what it replaced.
import { type AmendLine, type Bucket, type DeleteLine, hourOf, type Place } from '../outcome.ts'
import { amendmentVersion, tombstoneVersion } from './rows.ts'

/** The newest row of an event, as JSON values in the order of EVENT_FIELDS, with what the aggregator appended. */
export type StoredRow = {
  readonly fields: readonly unknown[]
  readonly place: Place & { readonly partition: number }
  readonly version: bigint
  readonly deleted: boolean
}
/** An amendment or a deletion in a partition. */
export type Control = (AmendLine | DeleteLine) & { readonly partition: number }

export type Amended = {
  /** Lines of usage_events. */
  readonly events: readonly string[]
  /** Lines of usage_amendments. They must be stored before `events`: a row that is there says that its history is. */
  readonly history: readonly string[]
}

// Places in EVENT_FIELDS.
const VALUES_AT = 9
const PROPERTIES_AT = 12

/** What the controls of a batch, in the order of the log, make of these rows. Controls of an event without a row do nothing. */
export function applyAmendments(rows: ReadonlyMap<string, StoredRow>, controls: readonly Control[]): Amended {
  const current = new Map(rows)
  const changed = new Map<string, string>()
  const history: string[] = []
  for (const control of controls) {
    const row = current.get(control.idHash)
    if (row === undefined) continue
    if (control.kind === 'delete') {
      if (!row.deleted) current.set(control.idHash, { ...row, deleted: true, version: tombstoneVersion(control) })
      continue
    }
    const tooLate = row.deleted && row.version < tombstoneVersion(control)
    // A message that is read again: its row, that of a later amendment or of a later deletion is there.
    if (!tooLate && row.version >= amendmentVersion(control)) continue
    history.push(historyRow(control, row))
    if (tooLate) continue
    const amended = { ...row, fields: amendedFields(row.fields, control), version: amendmentVersion(control) }
    current.set(control.idHash, amended)
    changed.set(control.idHash, eventRowOf(amended))
  }
  return { events: [...changed.values()], history }
}

/** The bucket of a row; no amendment moves it. */
export function bucketOfRow({ fields }: StoredRow): Bucket {
  const [, , platformId, environment, , customerKey, meterReference, timestamp] = fields.map(String)
  if (platformId === undefined || environment === undefined) throw new Error('a row has its tenant')
  if (customerKey === undefined || meterReference === undefined) throw new Error('a row has its customer and meter')
  return { platformId, environment, customerKey, meterReference, hour: hourOf(Number(timestamp)) }
}

function amendedFields(fields: readonly unknown[], amendment: AmendLine): unknown[] {
  const next = [...fields]
  const { valueReferences, valueQuantities, valueCurrencies, properties } = amendment
  next.splice(VALUES_AT, 3, valueReferences, valueQuantities, valueCurrencies)
  if (properties !== null) next[PROPERTIES_AT] = properties
  return next
}

/** A line of usage_events. It keeps the place of the event, which is what counts once, and has a version above it. */
const eventRowOf = ({ fields, place, version }: StoredRow): string =>
  JSON.stringify([...fields, place.partition, place.seq, place.line, version.toString(), 0])

/** A line of usage_amendments: who changed what, and what it was. */
function historyRow(amendment: Control & AmendLine, row: StoredRow): string {
  const { platformId, environment, idHash, receivedAt, actorId, requestId, reason, partition, seq, line } = amendment
  const { valueReferences, valueQuantities, valueCurrencies, properties } = amendment
  const before = row.fields.slice(VALUES_AT, PROPERTIES_AT + 1)
  return JSON.stringify([
    ...[platformId, environment, idHash, partition, seq, line, receivedAt, actorId, requestId, reason],
    ...[valueReferences, valueQuantities, valueCurrencies, properties ?? row.fields[PROPERTIES_AT]],
    ...before,
    row.deleted ? 0 : 1,
  ])
}

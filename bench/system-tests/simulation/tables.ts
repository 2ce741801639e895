// The tables of ClickHouse as ReplacingMergeTree reads them with FINAL: of the rows of one key the highest version holds,
// and of equal versions the one that was inserted last.
import type { Claim, Position } from '../../../aggregator/outcome.ts'
import { hourOf } from '../../../aggregator/outcome.ts'

/** The fields of a wire line, and what the aggregator appended. */
export type EventRow = {
  readonly fields: readonly unknown[]
  readonly place: readonly [partition: number, seq: number, line: number]
  readonly version: bigint
  readonly deleted: number
}
/** By combination: how many events, and the sum of their values. */
export type Figures = ReadonlyMap<string, { readonly count: bigint; readonly sum: bigint }>
export type Rollup = {
  readonly meter: string
  readonly customerKey: string
  readonly start: number
  readonly hours: readonly number[]
  readonly seqs: readonly bigint[]
  readonly figures: Figures
  readonly version: bigint
}
export type Mark = { readonly meter: string; readonly customerKey: string; readonly hour: number; readonly seq: bigint }

/** The bound parameters of a statement. */
export type Params = Record<string, unknown>

/** An aggregator's announcement about these meters; about all of them when `meters` is empty. */
export type Progress = {
  readonly completeBefore: number
  readonly publishedAt: number
  readonly version: number
  readonly meters: readonly string[]
}

export type Tables = {
  readonly events: Map<string, EventRow>
  /** By place: the wire line, and what was said of it. */
  readonly duplicates: Map<string, readonly unknown[]>
  readonly deadLetters: Map<string, string>
  readonly amendments: Map<string, readonly unknown[]>
  readonly marks: Map<string, Mark>
  readonly positions: Map<number, Position>
  readonly rollups: Map<string, Rollup>
  /** The records that lists of a meter find, by their texts in `recordsOf`. */
  readonly byMeter: Set<string>
  /** By owner: how far `byMeter` is filled. */
  readonly progress: Map<string, Progress>
  /** Called when a position is visible. */
  onPosition: (partition: number, seq: number) => void
  /** Called when it is said how far `byMeter` is filled. */
  onProgress: () => void
}

export const createTables = (): Tables => ({
  events: new Map(),
  duplicates: new Map(),
  deadLetters: new Map(),
  amendments: new Map(),
  marks: new Map(),
  positions: new Map(),
  rollups: new Map(),
  byMeter: new Set(),
  progress: new Map(),
  onPosition: () => undefined,
  onProgress: () => undefined,
})

const FIELDS = 14
export const idHashOf = ({ fields }: EventRow): string => String(fields[0])
/** Platform, environment and meter, as statements of roll-ups name them. */
export const meterOf = (fields: readonly unknown[]): string => `${fields[2]}/${fields[3]}/${fields[6]}`
export const hourOfEvent = (fields: readonly unknown[]): number => hourOf(Number(fields[7]))
export const placeText = (place: readonly unknown[]): string => place.join('/')

export function putEvent({ events }: Tables, row: EventRow): void {
  const { fields } = row
  // The sorting key: a second row of one reference at another time or customer would stand beside the first.
  const key = JSON.stringify([meterOf(fields), fields[5], fields[7], fields[0]])
  const known = events.get(key)
  if (known === undefined || row.version >= known.version) events.set(key, row)
}

/** Inserts lines of JSONCompactEachRow. */
export function insertInto(tables: Tables, table: string, lines: readonly string[]): void {
  for (const line of lines) insertRow(tables, table, JSON.parse(line))
}

function insertRow(tables: Tables, table: string, row: unknown[]): void {
  switch (table) {
    case 'usage_events': {
      const [partition, seq, line, version, deleted] = row.slice(FIELDS).map(String)
      const place = [Number(partition), Number(seq), Number(line)] as const
      putEvent(tables, {
        fields: row.slice(0, FIELDS),
        place,
        version: BigInt(version ?? ''),
        deleted: Number(deleted),
      })
      return
    }
    case 'usage_duplicates':
      tables.duplicates.set(placeText(row.slice(FIELDS, FIELDS + 3)), row)
      return
    case 'usage_dead_letters':
      tables.deadLetters.set(placeText(row.slice(0, 3)), String(row[3]))
      return
    case 'usage_amendments':
      tables.amendments.set(placeText(row.slice(3, 6)), row)
      return
    case 'usage_bucket_marks':
      insertMark(tables, row)
      return
    case 'usage_positions':
      insertPosition(tables, row)
      return
    case 'usage_records_by_meter_progress':
      insertProgress(tables, row)
      return
    default:
      throw new Error(`no table ${table}`)
  }
}

function insertMark({ marks }: Tables, row: unknown[]): void {
  const [platformId, environment, customerKey, meterReference, hour, partition, seq] = row.map(String)
  const meter = `${platformId}/${environment}/${meterReference}`
  const key = JSON.stringify([meter, customerKey, hour, partition])
  const mark = { meter, customerKey: customerKey ?? '', hour: Number(hour), seq: BigInt(seq ?? '') }
  if ((marks.get(key)?.seq ?? 0n) <= mark.seq) marks.set(key, mark)
}

function insertPosition(tables: Tables, row: unknown[]): void {
  const [partition = 0, seq = 0, seconds = 0] = row.map(Number)
  if ((tables.positions.get(partition)?.seq ?? 0) > seq) return
  tables.positions.set(partition, { seq, timeMs: Math.round(seconds * 1000), streamCreated: String(row[3]) })
  tables.onPosition(partition, seq)
}

function insertProgress({ progress, onProgress }: Tables, row: unknown[]): void {
  const [owner = '', ...numbers] = row.slice(0, 4).map(String)
  const [completeBefore = 0, publishedAt = 0, version = 0] = numbers.map(Number)
  if ((progress.get(owner)?.version ?? 0) > version) return
  progress.set(owner, {
    completeBefore: Math.round(completeBefore * 1000),
    publishedAt: Math.round(publishedAt * 1000),
    version,
    meters: row[4] as string[],
  })
  onProgress()
}

export type ListedRecord = { readonly text: string; readonly meter: string; readonly receivedMs: number }

/** Events and their repeats, as lists know them, and when each was received. */
export function recordsOf(tables: Tables): ListedRecord[] {
  const receivedMs = (fields: readonly unknown[]): number => Math.round(Number(fields[8]) * 1000)
  return [
    ...[...tables.events.values()].map(({ fields }) => ({
      text: String(fields[0]),
      meter: meterOf(fields),
      receivedMs: receivedMs(fields),
    })),
    ...[...tables.duplicates].map(([place, row]) => ({
      text: place,
      meter: meterOf(row),
      receivedMs: receivedMs(row),
    })),
  ]
}

/** Every mark of a bucket added up: what a roll-up must reach to be read. */
export function markSums({ marks }: Tables): Map<string, Mark> {
  const sums = new Map<string, Mark>()
  for (const mark of marks.values()) {
    const key = bucketText(mark.meter, mark.customerKey, mark.hour)
    sums.set(key, { ...mark, seq: mark.seq + (sums.get(key)?.seq ?? 0n) })
  }
  return sums
}

export const bucketText = (meter: string, customerKey: string, start: number): string =>
  JSON.stringify([meter, customerKey, start])

/** What the roll-up of these events says. */
export function figuresOf(events: Iterable<readonly unknown[]>): Figures {
  const figures = new Map<string, { count: bigint; sum: bigint }>()
  for (const fields of events) {
    const [references, quantities, currencies] = fields.slice(9, 12) as [string[], string[], string[]]
    for (const [at, reference] of references.entries()) {
      const entry = { count: 1n, sum: BigInt(quantities[at] ?? '') }
      addTo(figures, JSON.stringify([reference, currencies[at], fields[12], fields[13]]), entry)
    }
  }
  return figures
}

export function addTo(
  figures: Map<string, { count: bigint; sum: bigint }>,
  key: string,
  { count, sum }: { readonly count: bigint; readonly sum: bigint },
): void {
  const known = figures.get(key)
  figures.set(key, { count: count + (known?.count ?? 0n), sum: sum + (known?.sum ?? 0n) })
}

export function putRollup({ rollups }: Tables, grain: string, rollup: Rollup): void {
  const key = `${grain} ${bucketText(rollup.meter, rollup.customerKey, rollup.start)}`
  const known = rollups.get(key)
  if (known === undefined || rollup.version >= known.version) rollups.set(key, rollup)
}

/** The events of a partition as the index knows them, sorted as a rebuild asks for them. */
export const claimsOf = ({ events }: Tables, partition: number): Claim[] =>
  [...events.values()]
    .filter(row => row.place[0] === partition)
    .map(row => ({
      idHash: idHashOf(row),
      contentHash: String(row.fields[1]),
      seq: row.place[1],
      line: row.place[2],
    }))

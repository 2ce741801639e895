// What must hold: at every moment for what a position promises, and in quiet moments for everything.
import type { Broker } from './broker.ts'
import { expect, type Ledger } from './ledger.ts'
import { bucketOf, createReading, historyText, type Reading, readMessage } from './plain-reading.ts'
import {
  addTo,
  bucketText,
  type Figures,
  figuresOf,
  idHashOf,
  markSums,
  placeText,
  recordsOf,
  type Tables,
} from './tables.ts'

export type Checker = {
  /** A position is visible: everything up to it must be. Throws with what is missing. */
  position(partition: number, seq: number): void
  /** Lists of a meter find all that positions are past. Throws with what they miss. */
  listed(): void
  /** An index says that its partition is stored up to here. */
  committed(partition: number, seq: number): void
  /** Everything is stored and nothing is on its way. */
  quiet(ledger: Ledger): void
}

export function createChecker(broker: Broker, tables: Tables): Checker {
  const readings = broker.streams.map(() => ({ reading: createReading(), upTo: 0 }))

  function readTo(partition: number, seq: number): Reading {
    const state = readings[partition]
    if (state === undefined) throw new RangeError(`no partition ${partition}`)
    for (const message of broker.messages(partition).slice(state.upTo, seq)) {
      readMessage(state.reading, partition, message)
      state.upTo = message.seq
    }
    return state.reading
  }

  return {
    position(partition, seq) {
      if ((readings[partition]?.upTo ?? 0) >= seq) return
      expectPresent(tables, partition, readTo(partition, seq))
      expectListed(tables, [readTo(partition, seq)])
    },
    listed() {
      expectListed(
        tables,
        readings.map(({ reading }) => reading),
      )
    },
    committed(partition, seq) {
      const stored = tables.positions.get(partition)?.seq ?? 0
      expect(stored >= seq, `an index of partition ${partition} is at ${seq}, and only ${stored} is stored`)
    },
    quiet(ledger) {
      const whole = broker.streams.map((_, partition) => readTo(partition, Number.POSITIVE_INFINITY))
      expectTables(tables, whole)
      expectRollups(tables, whole)
      ledger.expectKept(tables, whole)
    },
  }
}

/** Nothing that was read is missing; the values may be newer. */
function expectPresent(tables: Tables, partition: number, reading: Reading): void {
  const stored = new Set([...tables.events.values()].map(idHashOf))
  for (const [idHash, { place }] of reading.events) {
    expect(stored.has(idHash), `the position is past ${place}, which is not stored`)
  }
  for (const name of ['duplicates', 'deadLetters', 'amendments'] as const) {
    for (const place of reading[name].keys()) {
      expect(tables[name].has(place), `the position is past ${place}, and ${name} do not have it`)
    }
  }
  for (const [bucket, seq] of reading.marks) {
    const mark = tables.marks.get(markKey(bucket, partition))
    expect(Number(mark?.seq ?? 0) >= seq, `the position is past ${partition}/${seq}, and ${bucket} is not marked`)
  }
}

/** What was received before the table of meters is said to be whole stands there. */
function expectListed(tables: Tables, readings: readonly Reading[]): void {
  if (tables.progress.size === 0) return
  const said = [...tables.progress.values()]
  for (const { text, meter, receivedMs } of recordsOf(tables)) {
    const ofMeter = said.filter(({ meters }) => meters.length === 0 || meters.includes(meter))
    const wholeBefore = Math.min(...ofMeter.map(({ completeBefore }) => completeBefore))
    if (receivedMs >= wholeBefore || tables.byMeter.has(text)) continue
    const isPast = readings.some(({ events, duplicates }) => events.has(text) || duplicates.has(text))
    expect(!isPast, `lists of a meter miss ${text}, received at ${receivedMs}, and are whole before ${wholeBefore}`)
  }
}

const markKey = (bucket: string, partition: number): string => {
  const [meter, customerKey, hour] = JSON.parse(bucket)
  return JSON.stringify([meter, customerKey, `${hour}`, `${partition}`])
}

function expectTables(tables: Tables, readings: readonly Reading[]): void {
  const stored = new Map<string, string[]>()
  for (const row of tables.events.values()) {
    const text = `${placeText(row.place)} ${JSON.stringify(row.fields)}${row.deleted ? ' deleted' : ''}`
    stored.set(idHashOf(row), [...(stored.get(idHashOf(row)) ?? []), text])
  }
  const events = merged(readings, ({ events }) => events)
  same(
    'usage_events',
    new Map([...stored].map(([idHash, rows]) => [idHash, rows.join(' and ')])),
    new Map(
      [...events].map(([id, { place, fields, deleted }]) => [
        id,
        `${place} ${JSON.stringify(fields)}${deleted ? ' deleted' : ''}`,
      ]),
    ),
  )
  const duplicates = [...tables.duplicates].map(([place, row]) => {
    const [partition, , , firstSeq, firstLine, differs] = row.slice(14)
    return [place, `${partition}/${firstSeq}/${firstLine} ${differs}`] as const
  })
  same(
    'usage_duplicates',
    new Map(duplicates),
    merged(readings, reading => reading.duplicates),
  )
  same(
    'usage_dead_letters',
    tables.deadLetters,
    merged(readings, reading => reading.deadLetters),
  )
  const history = [...tables.amendments].map(
    ([place, row]) => [place, historyText(row.slice(10, 14), row.slice(14, 18), row[18])] as const,
  )
  same(
    'usage_amendments',
    new Map(history),
    merged(readings, reading => reading.amendments),
  )
}

const merged = <V>(readings: readonly Reading[], of: (reading: Reading) => Map<string, V>): Map<string, V> =>
  new Map(readings.flatMap(reading => [...of(reading)]))

function same(table: string, held: ReadonlyMap<string, string>, due: ReadonlyMap<string, string>): void {
  for (const key of new Set([...held.keys(), ...due.keys()])) {
    expect(held.get(key) === due.get(key), `${table} ${key}: holds ${held.get(key)}, and the log says ${due.get(key)}`)
  }
}

/** Every bucket has its roll-up, and what it says is what the log says. */
function expectRollups(tables: Tables, readings: readonly Reading[]): void {
  const raw = new Map<string, (readonly unknown[])[]>()
  for (const { fields, deleted } of merged(readings, ({ events }) => events).values()) {
    if (!deleted) raw.set(bucketOf(fields), [...(raw.get(bucketOf(fields)) ?? []), fields])
  }
  const marks = markSums(tables)
  for (const [key, { seq }] of marks) {
    for (const grain of ['TOTALS', 'HOUR']) {
      const rollup = tables.rollups.get(`${grain} ${key}`)
      expect(rollup !== undefined && rollup.version >= seq, `no roll-up covers ${key}`)
      expectFigures(`${grain} ${key}`, rollup?.figures, figuresOf(raw.get(key) ?? []))
    }
  }
  for (const [name, day] of tables.rollups) {
    const hours = day.hours.map(hour => bucketText(day.meter, day.customerKey, hour))
    const covered = hours.every((hour, at) => (day.seqs[at] ?? 0n) >= (marks.get(hour)?.seq ?? 0n))
    if (!/^DAY(_TOTALS)? /.test(name) || !covered) continue
    const figures = new Map<string, { count: bigint; sum: bigint }>()
    for (const hour of hours) for (const [key, entry] of figuresOf(raw.get(hour) ?? [])) addTo(figures, key, entry)
    expectFigures(name, day.figures, figures)
  }
}

function expectFigures(name: string, held: Figures | undefined, due: Figures): void {
  const text = (figures: Figures): string =>
    [...figures]
      .map(([key, { count, sum }]) => `${key}: ${count}, ${sum}`)
      .toSorted()
      .join('; ')
  const [says, should] = [text(held ?? new Map()), text(due)]
  expect(says === should, `the roll-up ${name} says ${says}, and the raw rows ${should}`)
}

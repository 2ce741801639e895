// The statements of the roller over tables in memory: which hours and days are stale, what they cover, their figures.
import type { Tampering } from './sabotage.ts'
import {
  addTo,
  bucketText,
  figuresOf,
  hourOfEvent,
  markSums,
  meterOf,
  type Params,
  putRollup,
  type Rollup,
  type Tables,
} from './tables.ts'

const DAY = 86_400
const dayOf = (start: number): number => start - (start % DAY)
const textOf = (hex = ''): string => Buffer.from(hex, 'hex').toString('utf8')
const meterIn = (params: Params, hex = ''): string => `${params['platform_id']}/${params['environment']}/${textOf(hex)}`
/** The customer and the meter of what a statement names, which `meterOf` gives with its tenant. */
const named = ({ meter, customerKey }: { readonly meter: string; readonly customerKey: string }): unknown[] => [
  customerKey,
  meter.split('/').slice(2).join('/'),
]
const tenantRow = (meter: string, customerKey: string, start: number): unknown[] => {
  const [platformId, environment, ...meterReference] = meter.split('/')
  return [platformId, environment, customerKey, meterReference.join('/'), start]
}

/** The buckets a statement names. */
function asked(text: string, params: Params): Set<string> {
  const tuples = [...text.matchAll(/\('([0-9a-f]*)', '([0-9a-f]*)', (\d+)\)/g)]
  return new Set(
    tuples.map(([, customer, meter, start]) => bucketText(meterIn(params, meter), textOf(customer), Number(start))),
  )
}

/** Rows of a query of the roller. Throws on one it does not know. */
export function answerRollups(tables: Tables, text: string, params: Params): unknown[][] {
  if (text.includes('count() FROM usage_events')) {
    const wanted = asked(text, params)
    const sizes = new Map<string, unknown[]>()
    for (const { fields } of tables.events.values()) {
      const [customerKey, hour] = [String(fields[5]), hourOfEvent(fields)]
      const key = bucketText(meterOf(fields), customerKey, hour)
      if (wanted.has(key)) sizes.set(key, [...named({ meter: meterOf(fields), customerKey }), hour, '1'])
    }
    return [...sizes.values()]
  }
  if (text.includes('[sum(log_seq)] FROM usage_bucket_marks')) {
    const wanted = asked(text, params)
    return [...markSums(tables)]
      .filter(([key]) => wanted.has(key))
      .map(([, { hour, seq, ...of }]) => [...named(of), hour, [hour], [seq.toString()]])
  }
  if (text.includes('sum(log_seq) AS mark')) {
    return [...markSums(tables)]
      .filter(([key, { seq }]) => (tables.rollups.get(`TOTALS ${key}`)?.version ?? 0n) < seq)
      .map(([, { meter, customerKey, hour }]) => tenantRow(meter, customerKey, hour))
  }
  if (text.includes("sumIf(version, grain = 'HOUR')")) {
    const lacks = (day: string, hours: readonly Rollup[]) => (tables.rollups.get(day)?.version ?? 0n) < sumOf(hours)
    // Hours have both grains here, each with the same.
    return [...daysOf(tables, 'HOUR')]
      .filter(([key, hours]) => lacks(`DAY ${key}`, hours) || lacks(`DAY_TOTALS ${key}`, hours))
      .flatMap(([, [hour]]) => (hour ? [tenantRow(hour.meter, hour.customerKey, dayOf(hour.start))] : []))
  }
  if (text.includes('groupArrayArray(covered_seqs)')) {
    const wanted = asked(text, params)
    return [...daysOf(tables, text.includes("grain = 'TOTALS'") ? 'TOTALS' : 'HOUR')]
      .filter(([key]) => wanted.has(key))
      .flatMap(([, hours]) => {
        const [first] = hours
        const [starts, versions] = [hours.map(({ start }) => start), hours.map(({ version }) => version.toString())]
        return first ? [[...named(first), dayOf(first.start), starts, versions]] : []
      })
  }
  throw new Error(`a statement the simulation does not know: ${text}`)
}

/** The hours of every day that have a roll-up of this grain. */
function daysOf({ rollups }: Tables, grain: 'TOTALS' | 'HOUR'): Map<string, Rollup[]> {
  const found = new Map<string, Rollup[]>()
  for (const [name, rollup] of rollups) {
    if (!name.startsWith(`${grain} `)) continue
    const key = bucketText(rollup.meter, rollup.customerKey, dayOf(rollup.start))
    found.set(key, [...(found.get(key) ?? []), rollup])
  }
  return found
}

const sumOf = (hours: readonly Rollup[]): bigint => hours.reduce((sum, { version }) => sum + version, 0n)

/** Reads what `INSERT INTO usage_rollups_by_grain SELECT` reads now; what it gives makes it visible. */
export function writeRollups(tables: Tables, query: string, params: Params, tampering: Tampering): () => void {
  const day = ['DAY', 'DAY_TOTALS'].find(grain => query.includes(`'${grain}'`))
  const ofHours = day === undefined ? null : day === 'DAY' ? 'HOUR' : 'TOTALS'
  const rows = [...query.matchAll(/\('([0-9a-f]*)', '([0-9a-f]*)', (\d+), \[([\d,]*)\], \[([\d,]*)\]\)/g)].map(
    match => {
      const [, customer, meter, start = '', hours = '', seqs = ''] = match
      return rollupOf(tables, ofHours, {
        meter: meterIn(params, meter),
        customerKey: textOf(customer),
        start: Number(start),
        hours: hours.split(',').map(Number),
        seqs: seqs.split(',').map(BigInt),
      })
    },
  )
  return () => {
    for (const row of rows) {
      const rollup = day === undefined ? tampered(tables, row, tampering) : row
      for (const grain of day === undefined ? ['TOTALS', 'HOUR'] : [day]) putRollup(tables, grain, rollup)
    }
  }
}

/** `ofHours`: the grain of the hours that a day is made of; null for an hour, which is made of events. */
function rollupOf(
  tables: Tables,
  ofHours: 'TOTALS' | 'HOUR' | null,
  bucket: Omit<Rollup, 'figures' | 'version'>,
): Rollup {
  const version = bucket.seqs.reduce((sum, seq) => sum + seq, 0n)
  if (ofHours !== null) {
    const figures = new Map<string, { count: bigint; sum: bigint }>()
    const hours = daysOf(tables, ofHours).get(bucketText(bucket.meter, bucket.customerKey, bucket.start)) ?? []
    for (const hour of hours) for (const [key, entry] of hour.figures) addTo(figures, key, entry)
    return { ...bucket, figures, version }
  }
  const key = bucketText(bucket.meter, bucket.customerKey, bucket.start)
  const raw = [...tables.events.values()]
    .filter(
      ({ fields, deleted }) => !deleted && key === bucketText(meterOf(fields), String(fields[5]), hourOfEvent(fields)),
    )
    .map(({ fields }) => fields)
  return { ...bucket, figures: figuresOf(raw), version }
}

/** What a faulty roller would have written. */
function tampered(tables: Tables, rollup: Rollup, { rollupsAdd, rollupsCoverLate }: Tampering): Rollup {
  const key = bucketText(rollup.meter, rollup.customerKey, rollup.start)
  if (rollupsCoverLate) {
    const seq = markSums(tables).get(key)?.seq ?? 0n
    return { ...rollup, seqs: [seq], version: seq }
  }
  if (!rollupsAdd) return rollup
  const figures = new Map(rollup.figures)
  for (const [name, entry] of tables.rollups.get(`HOUR ${key}`)?.figures ?? []) addTo(figures, name, entry)
  return { ...rollup, figures }
}

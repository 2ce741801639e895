// Figures of the rows that `smallStatement` reads, in the form of those that ClickHouse puts together (`usageStatement`); a test holds
// the two equal. Pure.
import { SELECTOR_KEY } from '../../../shared/attribution/selector.ts'
import {
  distinctText,
  type EventProperties,
  matcherOf,
  propertyOf,
  type UsageProperty,
} from '../../../shared/usage/condition.ts'
import { type FigureRow, KINDS, TEXTS_MAX } from './figure-row.ts'
import type { PlannedQuery, View } from './plan-queries.ts'
import { GRAINS, isOfDay, type Slots, slotsOf } from './rows-sql.ts'
import {
  type EventLine,
  LINES,
  type MarkLine,
  type RolledLine,
  type SmallLine,
  type SmallOf,
} from './small-statement.ts'
import { readsPlainly } from './views-sql.ts'

/** The rows that the statement of figures would answer, of these lines. */
export function smallFigures({ queries, pieces }: Omit<SmallOf, 'tenant'>, lines: readonly SmallLine[]): FigureRow[] {
  const figures = new Figures(queries, slotsOf(pieces))
  for (const line of newestOf(lines)) figures.add(line)
  return figures.rows()
}

/** Of each row its newest version, and no event that is deleted. Marks are not versions of one row alone: see `Figures.addMark`. */
function newestOf(lines: readonly SmallLine[]): SmallLine[] {
  const newest = new Map<string, RolledLine | EventLine>()
  const marks: SmallLine[] = []
  for (const line of lines) {
    if (line[0] === LINES.mark) {
      marks.push(line)
      continue
    }
    const key = JSON.stringify(line.slice(0, 5))
    const known = newest.get(key)
    if (!known || BigInt(line[5]) > BigInt(known[5])) newest.set(key, line)
  }
  return [...marks, ...[...newest.values()].filter(line => line[0] === LINES.rolled || line[6] === 0)]
}

type Head = readonly [
  kind: number,
  key: string,
  meter: string,
  source: number,
  slot: number,
  subscription: string,
  view: number,
  split: readonly string[],
  reference: string,
  code: string,
]
type Sums = { total: bigint; lowest: bigint | null; highest: bigint | null }
type Group = Sums & { readonly head: Head; n: bigint; readonly texts: Set<string>; first: bigint; second: bigint }
/** A view, made ready for many rows. */
type Looked = { readonly view: View; readonly holds: (properties: EventProperties) => boolean }

class Figures {
  readonly #groups = new Map<string, Group>()
  readonly #marks = new Map<string, { readonly of: MarkLine; seq: bigint }>()
  readonly #views = new Map<string, Looked[]>()
  readonly #references = new Set<string>()
  readonly #plain: boolean
  readonly #isWanted: (subscription: string) => boolean
  readonly #slots: Slots

  constructor(queries: readonly PlannedQuery[], slots: Slots) {
    this.#slots = slots
    this.#plain = readsPlainly(queries)
    this.#isWanted = wantedBy(queries)
    for (const { calculation } of queries.map(({ query }) => query))
      if (calculation.type !== 'UNIQUE') this.#references.add(calculation.valueReference)
    for (const view of new Set(queries.map(each => each.view))) {
      const holds = view.condition === undefined ? () => true : matcherOf(view.condition)
      const own = this.#views.get(view.meterReference) ?? []
      this.#views.set(view.meterReference, [...own, { view, holds }])
    }
  }

  add(line: SmallLine): void {
    if (line[0] === LINES.rolled) this.#addRolled(line)
    else if (line[0] === LINES.event) this.#addEvent(line)
    else this.#addMark(line)
  }

  rows(): FigureRow[] {
    for (const { of, seq } of this.#marks.values()) {
      const [, key, meter, hour] = of
      const slot = slotOf(hour * 1000, this.#slots.rolled)
      this.#weigh([KINDS.marks, key, meter, GRAINS.RAW, slot, '', 0, [], '', ''], [[hour, seq]])
    }
    return [...this.#groups.values()].map(({ head, n, total, lowest, highest, texts, first, second }): FigureRow => {
      const [kind, key, meter, source, slot, subscription, view, split, reference, code] = head
      const bounds = [lowest, highest].map(each => (each === null ? '' : textOf(each))) as [string, string]
      const shown = [...texts].slice(0, TEXTS_MAX + 1)
      const place = [kind, key, meter, source, String(slot), subscription, view, split, reference, code] as const
      return [...place, String(n), textOf(total), ...bounds, shown, String(first), String(second)]
    })
  }

  #addRolled(line: RolledLine): void {
    const [, key, meter, grain, start, version, hours, seqs, subscriptions, events, ...lists] = line
    const [references, codes, counts, properties, sums, minima, maxima] = lists
    const slot = slotOf(start * 1000, this.#slots.rolled)
    const source = GRAINS[grain]
    const covered: [number, bigint][] = isOfDay(grain)
      ? hours.map((hour, place) => [hour, BigInt(seqs[place] ?? 0)])
      : [[start, BigInt(version)]]
    // A roll-up in which nothing is, or no combination has values, is taken for one that is not there, and read from single events.
    const carries = [
      ...(references.some(each => each.length > 0) ? [KINDS.values] : []),
      ...(subscriptions.length > 0 ? [KINDS.distinct] : []),
    ]
    for (const kind of carries) this.#weigh([kind, key, meter, source, slot, '', 0, [], '', ''], covered)
    for (const [nth, subscription] of subscriptions.entries()) {
      const names = references[nth] ?? []
      this.#addRow(
        { key, meter, source, slot, subscription, properties: properties[nth] ?? NO_PROPERTIES },
        {
          events: BigInt(events[nth] ?? 0),
          values: names.map((reference, place) => ({
            reference,
            code: codes[nth]?.[place] ?? '',
            n: BigInt(counts[nth]?.[place] ?? 0),
            total: sums[nth]?.[place] ?? '0',
            lowest: minima[nth]?.[place],
            highest: maxima[nth]?.[place],
          })),
        },
      )
    }
  }

  #addEvent([, key, meter, at, , , , subscription, references, quantities, codes, properties]: EventLine): void {
    const slot = slotOf(Number(at), this.#slots.raw)
    const values = references.map((reference, place) => {
      const quantity = quantities[place] ?? '0'
      return { reference, code: codes[place] ?? '', n: 1n, total: quantity, lowest: quantity, highest: quantity }
    })
    this.#addRow({ key, meter, source: GRAINS.RAW, slot, subscription, properties }, { events: 1n, values })
  }

  /** What a combination, or a single event, has: for each view that it is in. */
  #addRow({ key, meter, source, slot, subscription, properties }: RowAt, { events, values }: RowOf): void {
    if (!this.#isWanted(subscription)) return
    for (const { view, holds } of this.#views.get(meter) ?? NO_VIEWS) {
      if (!holds(properties)) continue
      const split = view.splitBy.map(property => splitTextOf(properties, property))
      const at = [key, meter, source, slot, subscription] as const
      if (view.distinct !== null) {
        const text = textIn(properties, view.distinct)
        if (text === undefined) continue
        const group = this.#group([KINDS.distinct, ...at, view.id, split, '', ''])
        group.n += events
        group.texts.add(text)
        continue
      }
      for (const { reference, code, n, total, lowest, highest } of values) {
        if (!this.#references.has(reference)) continue
        const group = this.#group([KINDS.values, ...at, this.#plain ? 0 : view.id, split, reference, code])
        group.n += n
        group.total += scaled(total)
        if (lowest !== undefined) group.lowest = least(group.lowest, scaled(lowest))
        if (highest !== undefined) group.highest = greatest(group.highest, scaled(highest))
      }
    }
  }

  #addMark(line: MarkLine): void {
    const [, key, meter, hour, partition, seq] = line
    const name = JSON.stringify([key, meter, hour, partition])
    const known = this.#marks.get(name)
    // Versions of a row: the last position counts.
    this.#marks.set(name, { of: line, seq: known && known.seq > BigInt(seq) ? known.seq : BigInt(seq) })
  }

  /** What is compared of a group, roll-ups with their marks: sums of positions, each hour's by weights of its own. */
  #weigh(head: Head, covered: readonly (readonly [hour: number, seq: bigint])[]): void {
    const group = this.#group(head)
    for (const [hour, seq] of covered) {
      const [first, second] = weightsOf(hour)
      group.first += first * seq
      group.second += second * seq
    }
  }

  #group(head: Head): Group {
    const name = JSON.stringify(head)
    const known = this.#groups.get(name)
    if (known) return known
    const sums = { n: 0n, total: 0n, lowest: null, highest: null, first: 0n, second: 0n }
    const made: Group = { head, ...sums, texts: new Set() }
    this.#groups.set(name, made)
    return made
  }
}

type RowAt = {
  readonly key: string
  readonly meter: string
  readonly source: number
  readonly slot: number
  readonly subscription: string
  readonly properties: EventProperties
}
type RowOf = {
  readonly events: bigint
  readonly values: readonly {
    readonly reference: string
    readonly code: string
    readonly n: bigint
    readonly total: string
    readonly lowest: string | undefined
    readonly highest: string | undefined
  }[]
}
const NO_VIEWS: readonly Looked[] = []
const NO_PROPERTIES: EventProperties = {}

/** Only events that a query wants, where all queries say which. */
function wantedBy(queries: readonly PlannedQuery[]): (subscription: string) => boolean {
  const texts = new Set<string>()
  for (const { bin } of queries) {
    if (bin.askingFor === undefined) return () => true
    for (const text of bin.askingFor.keys) texts.add(text)
  }
  const selects = queries.some(({ bin }) => bin.askingFor?.orSelector === true)
  return subscription => texts.has(subscription) || (selects && subscription.startsWith(SELECTOR_KEY))
}

/** The text by which values of a property are distinguished; nothing where it is absent. */
function textIn(properties: EventProperties, { reference, type }: UsageProperty): string | undefined {
  const value = propertyOf(properties, reference)
  return value === undefined ? undefined : distinctText(type, value)
}

function splitTextOf(properties: EventProperties, property: UsageProperty): string {
  const text = textIn(properties, property)
  return text === undefined ? '' : `=${text}`
}

/** The last start that is not after `at`; the first one where there is none. */
function slotOf(at: number, starts: readonly number[]): number {
  let [low, high] = [0, starts.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((starts[middle] ?? 0) <= at) low = middle
    else high = middle - 1
  }
  return starts[low] ?? 0
}

const PLACES = 12
/** A decimal of at most 12 places as a whole number of its last place. */
function scaled(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(PLACES, '0'))
}

function textOf(value: bigint): string {
  const digits = (value < 0n ? -value : value).toString().padStart(PLACES + 1, '0')
  return `${value < 0n ? '-' : ''}${digits.slice(0, -PLACES)}.${digits.slice(-PLACES)}`
}

const least = (a: bigint | null, b: bigint): bigint => (a === null || b < a ? b : a)
const greatest = (a: bigint | null, b: bigint): bigint => (a === null || b > a ? b : a)

/** Two numbers of 32 bits for an hour, so that sums of positions of different hours do not balance each other. */
function weightsOf(hour: number): readonly [bigint, bigint] {
  return [BigInt(mixed(hour, 0x9e3779b1)), BigInt(mixed(hour, 0x85ebca77))]
}
/** MurmurHash3's last steps. */
function mixed(value: number, seed: number): number {
  let hash = Math.imul(value ^ seed, 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

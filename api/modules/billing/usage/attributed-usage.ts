// The subscription's usage for a need: read in parts, each grouped by the subscription that its events name, and
// combined. Only sums are added: an average comes from sum and count, distinct values from the values themselves.
import { isDeepStrictEqual } from 'node:util'
import { type Decimal, decimalOfInteger, max, min } from '../../../../shared/decimal.ts'
import { assertNever } from '../../../../shared/errors.ts'
import { type Interval, interval } from '../../../../shared/time.ts'
import type { UsageProperty } from '../../../../shared/usage/condition.ts'
import type { UsageCalculation, UsageQuantity, UsageQuery } from '../../../usage/usage-query.ts'
import type { UsagePart } from '../terms/usage-parts.ts'
import type { UsageFigure } from './usage-needs.ts'

/** A question about usage: which customers' events, in which time, naming which subscription. */
export type UsagePartQuery = {
  readonly customerKeys: readonly string[]
  readonly interval: Interval
  readonly calculation: UsageCalculation
  readonly askingFor: UsageQuery['askingFor'] | null
  /** A quantity for each subscription that events name, or one for all of them. */
  readonly grouped: boolean
  readonly splitBy?: UsageProperty
}
export type ReadUsagePart = (question: UsagePartQuery) => Promise<readonly UsageQuantity[]>

/** One figure per currency, plain numbers first; none when no event is the subscription's. */
export async function attributedUsage(
  parts: readonly UsagePart[],
  calculation: UsageCalculation,
  read: ReadUsagePart,
): Promise<UsageFigure[]> {
  const answers = await Promise.all(questionsOf(parts, calculation).map(read))
  if (calculation.type === 'UNIQUE') return await distinctValues(groupsOf(parts, answers), calculation, read)
  return combinedUsage(parts, calculation, answers)
}

/** What is asked about each part. */
export const questionsOf = (parts: readonly UsagePart[], calculation: UsageCalculation): UsagePartQuery[] => {
  const asked: UsageCalculation = calculation.type === 'AVERAGE' ? { ...calculation, type: 'SUM' } : calculation
  return parts.map(({ customerKeys, interval, keys }) => ({
    customerKeys,
    interval,
    calculation: asked,
    grouped: true,
    askingFor: keys === null ? null : { keys, orSelector: true },
  }))
}

/** A calculation whose parts are combined without further questions. */
export type CombinedCalculation = Exclude<UsageCalculation, { type: 'UNIQUE' }>

/** What `attributedUsage` makes of the answers about each part. Pure. */
export function combinedUsage(
  parts: readonly UsagePart[],
  calculation: CombinedCalculation,
  answers: readonly (readonly UsageQuantity[])[],
): UsageFigure[] {
  const quantities = parts.flatMap((part, place) => oursOf(part, answers[place]))
  const byCurrency = new Map<string, UsageFigure>()
  for (const { currency, number, count } of quantities) {
    const known = byCurrency.get(currency ?? '')
    byCurrency.set(currency ?? '', {
      currency,
      number: known ? mergeFigures(calculation.type, known.number, number) : number,
      count: count + (known?.count ?? 0),
    })
  }
  const figures = [...byCurrency].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, figure]) => figure)
  if (calculation.type !== 'AVERAGE') return figures
  return figures.map(figure => ({ ...figure, number: figure.number.div(decimalOfInteger(figure.count)) }))
}

/** Two parts of one figure; an average is given as its sums. */
export function mergeFigures(type: 'SUM' | 'MAX' | 'MIN' | 'AVERAGE', a: Decimal, b: Decimal): Decimal {
  switch (type) {
    case 'SUM':
    case 'AVERAGE':
      return a.plus(b)
    case 'MAX':
      return max(a, b)
    case 'MIN':
      return min(a, b)
    default:
      return assertNever(type)
  }
}

/** A part with the subscriptions that its events name, and the quantities of the events that count. */
type Group = { readonly part: UsagePart; readonly keys: readonly string[]; readonly ours: readonly UsageQuantity[] }

const oursOf = (part: UsagePart, quantities: readonly UsageQuantity[] = []): UsageQuantity[] =>
  quantities.filter(({ subscription }) => part.isOurs(subscription ?? ''))

const groupsOf = (parts: readonly UsagePart[], answers: readonly (readonly UsageQuantity[])[]): Group[] =>
  parts.map((part, place) => ({
    part,
    keys: [...new Set((answers[place] ?? []).map(({ subscription }) => subscription ?? ''))],
    ours: oursOf(part, answers[place]),
  }))

/**
 * The number of distinct values. Groups of events may share values, so several groups are counted by the values
 * themselves. When there are too many values to return, all groups are counted in one question, or, where no single
 * question covers them, by value.
 */
async function distinctValues(
  groups: readonly Group[],
  calculation: UsageCalculation & { type: 'UNIQUE' },
  read: ReadUsagePart,
): Promise<UsageFigure[]> {
  const ours = groups.flatMap(group => group.ours)
  const [first, second] = ours
  if (!first) return []
  if (!second) return [{ currency: null, number: first.number, count: first.count }]
  if (ours.every(({ values }) => values !== undefined))
    return [distinctOf(ours.map(({ values = [], count }) => ({ values, count })))]
  const [piece, ...others] = piecesOf(groups)
  if (piece && others.length === 0) {
    const [all] = await read({ ...piece, calculation, grouped: false })
    return all ? [{ currency: null, number: all.number, count: all.count }] : []
  }
  const pieces = [piece, ...others].filter(found => found !== undefined)
  const splitBy = calculation.property
  const found = await Promise.all(pieces.map(each => read({ ...each, calculation, grouped: false, splitBy })))
  return [distinctOf(found.flat().map(({ split, count }) => ({ values: [split[0]], count })))]
}

const distinctOf = (
  groups: readonly { readonly values: readonly (string | null | undefined)[]; readonly count: number }[],
): UsageFigure => ({
  currency: null,
  number: decimalOfInteger(new Set(groups.flatMap(({ values }) => values)).size),
  count: groups.reduce((sum, { count }) => sum + count, 0),
})

type Piece = Pick<UsagePartQuery, 'customerKeys' | 'interval'> & { askingFor: { keys: string[]; orSelector: false } }

/** The times with the same question, in one piece per customer where possible. */
function piecesOf(groups: readonly Group[]): Piece[] {
  const pieces: Piece[] = []
  for (const { part } of groups) {
    const { customerKeys, interval: within } = part
    const own = groups.filter(group => group.part.customerKeys[0] === customerKeys[0])
    const keys = [...new Set(own.flatMap(group => group.keys))].filter(part.isOurs).sort()
    if (keys.length === 0) continue
    const last = pieces.at(-1)
    if (last && goesOn(last, part, keys)) {
      pieces[pieces.length - 1] = { ...last, interval: interval(last.interval.start, within.end) }
    } else pieces.push({ customerKeys, interval: within, askingFor: { keys, orSelector: false } })
  }
  return pieces
}

const goesOn = (last: Piece, part: UsagePart, keys: readonly string[]): boolean =>
  last.customerKeys[0] === part.customerKeys[0] &&
  last.interval.end === part.interval.start &&
  isDeepStrictEqual(last.askingFor.keys, keys)

// Steps 7 and 9 of semantics 5.4: adds a charge so that a committed minimum is reached.
import { type Decimal, max, sum, ZERO } from '../../decimal.ts'
import { type Instant, type Interval, instantOf, interval, without } from '../../time.ts'
import { type Fraction, timesFraction } from '../fraction.ts'
import { localDays } from '../local-days.ts'
import { shareOf } from '../proration.ts'
import { TAX_CATEGORIES, type TaxCategory } from '../tax/tax.ts'
import { CLAUSE_LEVELS, type Commitment, type MinimumBefore } from './clauses.ts'
import { commonScope, type Line, type LinePeriod, netOf } from './line.ts'
import {
  adjustingLine,
  applicableShare,
  applicableTime,
  byPeriod,
  inTurn,
  isAbout,
  rounded,
  type Step,
  type StepContext,
  totalOf,
} from './step.ts'

type Commitments = readonly [Commitment, ...Commitment[]]

/** Commitments on the same lines belong together: one that follows another in time completes its period, and of those at once the larger is due. */
function together(commitments: readonly Commitment[]): Commitments[] {
  const groups = new Map<string, [Commitment, ...Commitment[]]>()
  for (const commitment of commitments) {
    const { of, scheduleId, value } = commitment
    const key = [scheduleId, of?.level, ...(of?.ids.toSorted() ?? []), value.kind].join(' ')
    const group = groups.get(key)
    if (group) group.push(commitment)
    else groups.set(key, [commitment])
  }
  return [...groups.values()]
}

const narrowFirst = (a: Commitment, b: Commitment): number => levelOf(a) - levelOf(b)
const levelOf = ({ of }: Commitment): number => (of === null ? CLAUSE_LEVELS.length : CLAUSE_LEVELS.indexOf(of.level))

type Of = {
  readonly step: 'COMMITMENT' | 'INVOICE_COMMITMENT'
  readonly period: LinePeriod
  /** The lines of this invoice (`members`), and the same with those of earlier invoices (`counted`). */
  readonly members: readonly Line[]
  readonly counted: readonly Line[]
  /** What earlier invoices added to reach the minimum of this period. */
  readonly addedBefore: Decimal
  /** The lines by which they did. */
  readonly reached?: readonly MinimumBefore[]
  readonly context: StepContext
}

/**
 * The committed amount of a period: prorated by days where the period is partial or paused or a commitment applies only
 * to a part of it.
 */
const committed = (all: Commitments, amountOf: (each: Commitment) => Decimal, { period, context }: Of): Decimal =>
  sum(
    largestInTurn(all, amountOf, period).map(({ amount, during }) =>
      timesFraction(amount, shareOfPeriod({ during }, period, context)),
    ),
  )

type Due = { readonly amount: Decimal; readonly during: Commitment['during'] }

/** What is committed at each time of a period: the largest of those that apply at once. */
function largestInTurn(all: Commitments, amountOf: (each: Commitment) => Decimal, { service }: LinePeriod): Due[] {
  const [first] = all
  if (all.length === 1) return [{ amount: amountOf(first), during: first.during }]
  const held = all.flatMap(each => {
    const time = applicableTime(each.during, service)
    return time === null ? [] : [{ amount: amountOf(each), time }]
  })
  const moments = [...new Set(held.flatMap(({ time: { start, end } }) => [start, end]))].toSorted((a, b) => a - b)
  const due: { amount: Decimal; during: { start: Instant; end: Instant } }[] = []
  for (const [index, start] of moments.slice(0, -1).entries()) {
    const end = moments[index + 1] ?? start
    const amounts = held.flatMap(({ amount, time }) => (time.start <= start && end <= time.end ? amount : []))
    if (amounts.length === 0) continue
    const amount = amounts.reduce((a, b) => max(a, b))
    const before = due.at(-1)
    // In one piece where it stays the same, so that nothing is lost by dividing.
    if (before?.during.end === start && before.amount.eq(amount)) before.during.end = end
    else due.push({ amount, during: { start, end } })
  }
  return due
}

/** The share of the full period for which a commitment is due: nothing is committed for the days of a pause. */
function shareOfPeriod(
  { during }: Pick<Commitment, 'during'>,
  { service, full }: LinePeriod,
  { zone, pauses }: StepContext,
): Fraction {
  const held = applicableTime(during, service)
  if (held === null || pauses.length === 0) return applicableShare(during, service, full, zone)
  return shareOf(held, full, zone, pauses)
}

/** How much more is owed: the missing money, or the price of the missing units on top of those that were used. */
function shortfall(all: Commitments, of: Of): Decimal {
  const [{ value }] = all
  if (value.kind === 'AMOUNT') {
    const amount = committed(all, each => (each.value.kind === 'AMOUNT' ? each.value.amount : ZERO), of)
    return rounded(of.context, amount).minus(totalOf(of.counted))
  }
  const number = committed(all, each => (each.value.kind === 'NUMBER' ? each.value.number : ZERO), of)
  const used = sum(of.counted.map(({ volume }) => volume ?? ZERO))
  return rounded(of.context, value.priceOf(max(number, used)).minus(value.priceOf(used)))
}

/**
 * Divided over tax categories by the amounts of their lines; the first category gets all of it when every amount is
 * zero.
 */
function byCategory(members: readonly Line[], total: Decimal, context: StepContext): [TaxCategory, Decimal][] {
  const weights = TAX_CATEGORIES.map((category): [TaxCategory, Decimal] => [
    category,
    sum(members.filter(line => line.taxCategory === category).map(line => max(netOf(line), ZERO))),
  ])
  const all = sum(weights.map(([, weight]) => weight))
  if (all.eq(ZERO)) return [[members[0]?.taxCategory ?? 'STANDARD', total]]
  const parts: [TaxCategory, Decimal][] = []
  let left = total
  const own = weights.filter(([, weight]) => weight.gt(ZERO))
  for (const [index, [category, weight]] of own.entries()) {
    // The last part is what is left, so that the parts sum to the total.
    const part = index === own.length - 1 ? left : rounded(context, total.times(weight).div(all))
    parts.push([category, part])
    left = left.minus(part)
  }
  return parts
}

/** The start of the keys of the lines that these commitments make for a period, wherever the period then ends. */
const keyOfMinimum = (all: Commitments, { service: { start } }: LinePeriod): string =>
  ['COMMITMENT', all.map(({ id }) => id).join(' '), start].join(' ')

/** The period whose minimum a line with this key reached, where the minimum is of this clause; null for any other key. */
export function timeOfMinimum(key: string, clauseId: string): Interval | null {
  if (!key.startsWith('COMMITMENT ') || !key.includes(` ${clauseId} `)) return null
  // After the ids: the start, the end and the tax category.
  const [start, end] = key.split(' ').slice(-3).map(Number)
  return start === undefined || end === undefined ? null : interval(instantOf(start), instantOf(end))
}

/**
 * Adds the lines that raise what was charged to what is committed. What earlier invoices added for the period and later
 * charges have made unnecessary is given back.
 */
function trueUp(lines: readonly Line[], all: Commitments, of: Of): readonly Line[] {
  const missing = max(shortfall(all, of), ZERO).minus(of.addedBefore)
  if (missing.eq(ZERO)) return lines
  const { step, period, members, context } = of
  const clauseId = all.map(({ id }) => id).join(' ')
  const base = totalOf(of.counted)
  const made = byCategory(members, missing, context)
    .filter(([, exact]) => !exact.eq(ZERO))
    .map(([taxCategory, exact]) => {
      const key = `${keyOfMinimum(all, period)} ${period.service.end} ${taxCategory}`
      // A minimum is itself a charge, so what it noted about itself adds nothing.
      const because = { step, clauseId, lineKey: key, base, exact: ZERO, percentage: null, share: null, coupon: null }
      const own = { key, kind: 'COMMITMENT', of: commonScope(members), exact, taxCategory, period } as const
      const inAdvance = step === 'COMMITMENT' && members.every(line => line.inAdvance)
      const paidBefore = inAdvance && missing.gt(ZERO) ? paidFor(of) : {}
      // What it gives back of a late period is late too: it makes no wider minimum due again.
      return { ...adjustingLine(own, because), inAdvance, late: isLate(members), ...paidBefore }
    })
  return [...lines, ...made]
}

/** Whether they are of a period whose minimum a closed invoice has charged. */
const isLate = (members: readonly Line[]): boolean => members.every(({ late }) => late)

const sameTime = ({ period: { service: a } }: Line, { period: { service: b } }: Line): boolean =>
  a.start === b.start && a.end === b.end

/** A step between minimums: the lines so far, and what earlier invoices charged with the minimums they reached so far. */
type Narrower = { readonly now: readonly Line[]; readonly before: readonly Line[] }

/**
 * Step 7: commitments on configs, items and pricings, narrow to wide, so that a wider one counts what a narrower one
 * charged, on this invoice or an earlier one. A commitment is due for every period with a line in its scope, even a line of
 * 0.00, so the input must include lines without usage. A minimum that was reached ahead counts what earlier invoices added.
 */
export const commitments: Step = (lines, { commitments: all, billedBefore, minimumsBefore }, context) =>
  together(all.filter(({ of }) => of !== null).toSorted(narrowFirst)).reduce<Narrower>(
    ({ now, before }, group) => {
      const [first] = group
      const about = byPeriod(now.filter(line => isAbout(first, line)))
      const earlier = byPeriod(before.filter(line => isAbout(first, line)))
      const sameAs = <T extends readonly [Line, ...Line[]]>(all: readonly T[], [line]: readonly [Line, ...Line[]]) =>
        all.find(each => sameTime(each[0], line))
      const reachedFor = (period: LinePeriod): MinimumBefore[] => {
        const key = keyOfMinimum(group, period)
        return minimumsBefore.filter(before => before.key.startsWith(`${key} `))
      }
      /** What earlier invoices, which charged these lines, added for a period. */
      const addedFor = (members: readonly Line[], counted: readonly Line[], period: LinePeriod): Decimal => {
        const isLateTime = members.length > 0 && isLate(members)
        const reached = reachedFor(period)
        if (!isLateTime && reached.length === 0) return ZERO
        const of = { step: 'COMMITMENT', period, members, counted, addedBefore: ZERO } as const
        return max(shortfall(group, { ...of, context: daysReached(reached, period, context) }), ZERO)
      }
      const periods = about.filter(members =>
        isLate(members) ? first.isOfOnePrice : first.inAdvance || members.some(line => !line.inAdvance),
      )
      const after = inTurn(now, periods, (current, members) => {
        const [{ period }] = members
        const charged = sameAs(earlier, members) ?? []
        const addedBefore = addedFor(members, charged, period)
        const counted = [...members, ...charged]
        const reached = reachedFor(period)
        return trueUp(current, group, { step: 'COMMITMENT', period, members, counted, addedBefore, reached, context })
      })
      const reached = earlier.flatMap(charged => {
        const members = sameAs(about, charged)
        const added = addedFor(members ?? [], charged, (members ?? charged)[0].period)
        return added.eq(ZERO) ? [] : [reachedBefore(charged, added)]
      })
      return { now: after, before: [...before, ...reached] }
    },
    { now: lines, before: billedBefore },
  ).now

/** The times of a period for which no earlier invoice reached its minimum; null where one reached it for all of the period. */
function openTimes(reached: readonly MinimumBefore[], { service }: LinePeriod): Interval[] | null {
  const parts = reached.flatMap(({ part }) => part ?? [])
  if (parts.length < reached.length) return null
  return without(
    [service],
    parts.flatMap(({ end, pauses }) => without([interval(service.start, end)], pauses)),
  )
}

/**
 * The days that are left of those for which earlier invoices reached a minimum. What was paid for days that a pause or an end takes out
 * later is not given back, and counts for no other days.
 */
function daysReached(reached: readonly MinimumBefore[], period: LinePeriod, context: StepContext): StepContext {
  const open = reached.length === 0 ? null : openTimes(reached, period)
  return open === null ? context : { ...context, pauses: [...context.pauses, ...without(open, context.pauses)] }
}

/** What is added for days that came back is for them alone, so that a refund is of them. */
function paidFor({ reached = [], period, context: { zone, pauses } }: Of): Pick<Line, 'paidBefore'> {
  const open = reached.length === 0 ? null : openTimes(reached, period)
  const isAnyDay = without(open ?? [], pauses).some(time => localDays(time, zone) > 0)
  return open !== null && isAnyDay ? { paidBefore: without([period.service], open) } : {}
}

/** What earlier invoices added to reach the minimum of these lines. */
function reachedBefore(lines: readonly [Line, ...Line[]], exact: Decimal): Line {
  const [line] = lines
  const of = commonScope(lines)
  return { ...line, key: `COMMITMENT ${line.key}`, kind: 'COMMITMENT', of, exact, because: [], volume: null }
}

/**
 * Step 9: the minimum of the whole invoice, over everything its schedules charge. Lines added by users do not count.
 */
export const invoiceCommitment: Step = (lines, { commitments: all }, context) =>
  inTurn(lines, together(all.filter(({ of }) => of === null)), (now, group) => {
    const members = now.filter(line => isAbout(group[0], line))
    const of = {
      step: 'INVOICE_COMMITMENT',
      period: context.invoicePeriod,
      members,
      counted: members,
      addedBefore: ZERO,
      context,
    } as const
    return trueUp(now, group, of)
  })

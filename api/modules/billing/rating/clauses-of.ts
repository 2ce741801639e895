// The clauses of a subscription's schedules, as input for the steps of the amount pipeline. Pure.

import { timesFraction } from '../../../../shared/billing/fraction.ts'
import type { Span } from '../../../../shared/billing/periods.ts'
import {
  type Change,
  type Clauses,
  type Commitment,
  type Discount,
  type Markup,
  type Minimum,
  NO_CLAUSES,
} from '../../../../shared/billing/steps/clauses.ts'
import { type Decimal, decimal, ONE, plain, ZERO } from '../../../../shared/decimal.ts'
import { amountVolume, numberVolume } from '../../../../shared/rating/price.ts'
import { rate } from '../../../../shared/rating/rate.ts'
import { at, instantOf } from '../../../../shared/time.ts'
import { type ClauseEntry, clauseEntries } from '../../subscriptions/clauses/clause-entries.ts'
import type { ScheduleInput } from '../terms/billing-inputs.ts'
import { idOfClause, isOf } from '../terms/clauses-of-prices.ts'
import type { PriceTerm } from '../terms/price-terms.ts'
import { priceOf } from './charge-volume.ts'
import type { ExchangeOf } from './exchange.ts'

/**
 * The clauses of these schedules; NO_CLAUSES itself when they have none. A commitment reads the prices that it applies
 * to.
 */
export function clausesOf(
  schedules: readonly ScheduleInput[],
  terms: readonly PriceTerm[],
  exchangeOf: ExchangeOf,
): Clauses {
  const markups = schedules.flatMap(schedule =>
    clauseEntries('markup', schedule).map(entry => markupOf(schedule, entry, exchangeOf)),
  )
  const discounts = schedules.flatMap(schedule =>
    clauseEntries('discount', schedule).map(entry => discountOf(schedule, entry, exchangeOf)),
  )
  const charging = schedules.filter(({ trial }) => trial !== true)
  const commitments = charging.flatMap(schedule => {
    const own = terms.filter(term => term.schedule.id === schedule.id)
    return clauseEntries('commitment', schedule).flatMap(entry =>
      commitmentOf(schedule, entry, { terms: own, exchangeOf }),
    )
  })
  const none = markups.length + discounts.length + commitments.length === 0
  return none ? NO_CLAUSES : { ...NO_CLAUSES, markups, discounts, commitments }
}

/** The schedule of a clause. */
export const scheduleOfClause = (clauseId: string): string => clauseId.slice(0, clauseId.indexOf(' '))

/** The path of a clause in its schedule. */
export const pathOfClause = (clauseId: string): string => clauseId.slice(clauseId.indexOf(' ') + 1)

/** The members that all clauses have. */
function clauseOf(schedule: ScheduleInput, entry: ClauseEntry) {
  const { path, level, ids } = entry
  return {
    id: idOfClause(schedule.id, path),
    scheduleId: schedule.id,
    during: spanOfClause(schedule, entry),
    of: level === null ? null : { level, ids },
  }
}

/** When a clause applies; null where it says no times of its own. */
export function spanOfClause(schedule: Pick<ScheduleInput, 'start_at'>, { value }: ClauseEntry): Span | null {
  const { start_at, end_at } = value
  return start_at || end_at ? { start: at(start_at ?? schedule.start_at), end: end_at ? at(end_at) : null } : null
}

const markupOf = (schedule: ScheduleInput, entry: ClauseEntry, exchangeOf: ExchangeOf): Markup => ({
  ...clauseOf(schedule, entry),
  value: changeOf(entry.value, moneyOf(schedule, exchangeOf)),
})

function discountOf(schedule: ScheduleInput, entry: ClauseEntry, exchangeOf: ExchangeOf): Discount {
  const { condition } = entry.value
  const money = moneyOf(schedule, exchangeOf)
  return {
    ...clauseOf(schedule, entry),
    value: changeOf(entry.value, money),
    condition: condition ? { comparator: condition.comparator, amount: money(condition.value.amount.quantity) } : null,
    coupon: null,
  }
}

type Money = (quantity: string) => Decimal

/** The amounts of a schedule's clauses in the currency of the invoice. */
export function moneyOf(schedule: ScheduleInput, exchangeOf: ExchangeOf): Money {
  const exchange = exchangeOf(schedule)
  return quantity => (exchange ? timesFraction(decimal(quantity), exchange.factor) : decimal(quantity))
}

const changeOf = ({ amount, percentage }: ClauseEntry['value'], money: Money): Change =>
  amount
    ? { kind: 'AMOUNT', amount: money(amount.quantity) }
    : { kind: 'PERCENTAGE', percentage: percentage ? decimal(percentage) : ZERO }

/** None for a commitment of units whose price the schedule does not have, and for one that never applies. */
function commitmentOf(
  schedule: ScheduleInput,
  entry: ClauseEntry,
  { terms, exchangeOf }: { readonly terms: readonly PriceTerm[]; readonly exchangeOf: ExchangeOf },
): Commitment[] {
  const about = terms.filter(term => isOf(entry, term))
  const value = minimumOf(entry, about, { schedule, exchangeOf })
  if (value === null) return []
  const inAdvance = about.length > 0 && about.every(term => term.inAdvance)
  const clause = clauseOf(schedule, entry)
  // A minimum of the whole invoice has no lines to date it by: it applies while its schedule is in force.
  const during = clause.of === null ? withinOf(schedule, clause.during) : clause.during
  // It has ended before the schedule begins, or the schedule was ended before it would begin.
  if (during !== null && during.end !== null && during.end <= during.start) return []
  return [{ ...clause, during, value, inAdvance, isOfOnePrice: isOnePrice(about) }]
}

/** Whether these are one price: an ADDON has a term for each time in which it is enabled. */
const isOnePrice = (terms: readonly PriceTerm[]): boolean =>
  new Set(terms.map(({ config, productItem }) => `${config.id} ${productItem.id}`)).size === 1

function withinOf({ start_at, end_at }: ScheduleInput, during: Span | null): Span {
  const ends = [end_at === null ? null : at(end_at), during?.end ?? null].filter(end => end !== null)
  return {
    start: instantOf(Math.max(at(start_at), during?.start ?? 0)),
    end: ends.length === 0 ? null : instantOf(Math.min(...ends)),
  }
}

/** For a commitment of units: the missing units cost what they would after those that were used (semantics 5.4). */
function minimumOf(
  { value }: ClauseEntry,
  [term]: readonly PriceTerm[],
  { schedule, exchangeOf }: { readonly schedule: ScheduleInput; readonly exchangeOf: ExchangeOf },
): Minimum | null {
  const { amount, meter_value_calculation: metered } = value
  if (amount) return { kind: 'AMOUNT', amount: moneyOf(schedule, exchangeOf)(amount.quantity) }
  if (!metered || !term) return null
  const config = priceOf(term)
  const ofAmounts = term.calculation?.value_type === 'AMOUNT'
  // The currency of the price, which is another one than the schedule's where it falls back.
  const money = moneyOf(term.schedule, exchangeOf)
  return {
    kind: 'NUMBER',
    number: decimal(metered.number ?? metered.amount?.quantity ?? '0'),
    priceOf: number =>
      money(
        plain(
          rate(config, ofAmounts ? amountVolume(number, config.currency, ONE) : numberVolume(number)).total.quantity,
        ),
      ),
  }
}

// Usage of money in other currencies than its price, converted at the rates of the time of each event (semantics 1.1).
// What was metered between two rates is read on its own, combined, and converted once.
import type { ExchangeRate } from '../../../../shared/billing/exchange/exchange-rates.ts'
import { type ExchangeThen, exchangeAt, exchangePieces } from '../../../../shared/billing/exchange/exchange-spans.ts'
import { timesFraction } from '../../../../shared/billing/fraction.ts'
import { type Decimal, decimalOfInteger, plain } from '../../../../shared/decimal.ts'
import { groupBy } from '../../../../shared/group-by.ts'
import { at, type Instant } from '../../../../shared/time.ts'
import { mergeFigures } from './attributed-usage.ts'
import type { UsageOfCustomers } from './customer-usage.ts'
import type { ConvertedPart, CustomerFigure, UsageExchange, UsageFigure, UsageNeed } from './usage-needs.ts'

type Reading = {
  /** Reads the need in a part of its time. */
  readonly read: (need: UsageNeed) => Promise<UsageOfCustomers>
  /** The exchange rates of these currencies that hold at this time or later. */
  readonly rates: (currencies: readonly string[], since: Instant) => Promise<readonly ExchangeRate[]>
}

/**
 * The figures in the currency of the price, each with the money that it was converted from. Money without a rate stays
 * in its own currency, with the time from which a rate is missing. Where nothing is converted, nothing more is read.
 */
export async function inPricingCurrency(
  need: UsageNeed,
  found: UsageOfCustomers,
  { read, rates }: Reading,
): Promise<UsageOfCustomers> {
  const { currency: to = null, interval: within } = need
  const foreign = to === null ? [] : foreignIn([...found.figures, ...found.byCustomer], to)
  if (to === null || foreign.length === 0) return found
  const known = await rates([to, ...foreign], within.start)
  const { calculation_type: type } = need.calculation
  // An average is divided once, after its sums were converted.
  const calculation = type === 'AVERAGE' ? { ...need.calculation, calculation_type: 'SUM' as const } : need.calculation
  const pieces = await Promise.all(
    exchangePieces(known, within, { from: foreign, to }).map(async interval => ({
      start: interval.start,
      found: await read({ ...need, calculation, interval }),
    })),
  )
  // Kept with what an invoice bills, so that later usage of the same time is converted by the same rates.
  const held = onceInOrder(
    pieces.flatMap(({ start: when }) =>
      foreign.flatMap(from => exchangeAt(known, { from, to, when }).exchange?.used ?? []),
    ),
  )
  const of = { to, type, held, rates: known, byValue: need.byValue === true }
  const inPieces = <T>(figuresOf: (found: UsageOfCustomers) => readonly T[]) =>
    pieces.flatMap(({ start, found: read }) => figuresOf(read).map(figure => ({ start, figure })))
  const own = groupBy(
    inPieces(({ byCustomer }) => byCustomer),
    ({ figure }) => figure.customerId,
  )
  return {
    figures: combined(
      inPieces(({ figures }) => figures),
      of,
    ),
    byCustomer: [...own].flatMap(([customerId, theirs]) =>
      combined(theirs, of).map((figure): CustomerFigure => ({ ...figure, customerId, weight: weightOf(figure, type) })),
    ),
  }
}

const foreignIn = (figures: readonly UsageFigure[], to: string): string[] => [
  ...new Set(
    figures.flatMap(({ currency, count }) => (currency === null || currency === to || count === 0 ? [] : [currency])),
  ),
]

type CalculationType = UsageNeed['calculation']['calculation_type']

/** Averages do not add up, so shares are those of their sums. */
const weightOf = ({ number, count }: UsageFigure, type: CalculationType): Decimal =>
  type === 'AVERAGE' ? number.times(decimalOfInteger(count)) : number

/** A figure of the events from `start` to the next rate. */
type Piece = { readonly start: Instant; readonly figure: UsageFigure }
type Of = {
  readonly to: string
  readonly type: CalculationType
  readonly rates: readonly ExchangeRate[]
  readonly held: readonly ExchangeRate[]
  readonly byValue: boolean
}

/** One figure for each currency that remains and each value that usage is split by. */
function combined(pieces: readonly Piece[], of: Of): UsageFigure[] {
  const found = new Map<string, UsageFigure>()
  for (const piece of sameConversion(pieces, of)) {
    const figure = converted(piece, of)
    const key = JSON.stringify([figure.currency, figure.split])
    const known = found.get(key)
    found.set(key, known ? both(known, figure, of.type) : figure)
  }
  const figures = [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, figure]) => figure)
  return of.type === 'AVERAGE' ? figures.map(averaged) : figures
}

type Together = Piece & { readonly then: ExchangeThen | null }

/**
 * What shares a conversion, as one piece: each conversion may round at the 40th place, so where the time is cut must
 * not show. `then` is null for what needs no conversion.
 */
function sameConversion(pieces: readonly Piece[], { to, type, rates }: Of): Iterable<Together> {
  const found = new Map<string, Together>()
  for (const { start, figure } of pieces) {
    const { currency: from, count, split } = figure
    const then = from === null || from === to || count === 0 ? null : exchangeAt(rates, { from, to, when: start })
    const key = JSON.stringify([from, split, then?.exchange?.used, then?.stale])
    const known = found.get(key)
    found.set(key, known ? { ...known, figure: both(known.figure, figure, type) } : { start, figure, then })
  }
  return found.values()
}

function converted({ start, figure, then }: Together, { to, byValue, held }: Of): UsageFigure {
  const { currency, number, count } = figure
  // Plain numbers have no currency, and are refused where money is priced.
  if (currency === null || count === 0) return figure
  const exchangeOf = (quantity: Decimal, of: Pick<UsageExchange, 'used' | 'stale'>): UsageExchange => ({
    parts: [{ currency, number, converted: quantity, count }],
    held,
    ...of,
  })
  if (then === null) return { ...figure, exchange: exchangeOf(number, { used: [], stale: [] }) }
  const { exchange, stale } = then
  if (exchange === null) return { ...figure, missing: start }
  const own = timesFraction(number, exchange.factor)
  const value = byValue ? { split: [plain(own.div(decimalOfInteger(count)))] } : {}
  return { ...figure, currency: to, number: own, ...value, exchange: exchangeOf(own, { used: exchange.used, stale }) }
}

function both(a: UsageFigure, b: UsageFigure, type: CalculationType): UsageFigure {
  const exchange = exchangesTogether([a, b], type)
  const missing = a.missing ?? b.missing
  return {
    ...a,
    number: combine(type, a.number, b.number),
    count: a.count + b.count,
    ...(exchange ? { exchange } : {}),
    ...(missing === undefined ? {} : { missing }),
  }
}

// Distinct values are counted, never money.
const combine = (type: CalculationType, a: Decimal, b: Decimal): Decimal =>
  mergeFigures(type === 'UNIQUE' ? 'SUM' : type, a, b)

/** What these figures were converted from, one entry for each currency; null where nothing was. */
export function exchangesTogether(figures: readonly UsageFigure[], type: CalculationType): UsageExchange | null {
  const exchanges = figures.flatMap(({ exchange }) => exchange ?? [])
  if (exchanges.length === 0) return null
  const parts = new Map<string, ConvertedPart>()
  for (const part of exchanges.flatMap(each => each.parts)) {
    const known = parts.get(part.currency)
    parts.set(
      part.currency,
      known
        ? {
            currency: part.currency,
            number: combine(type, known.number, part.number),
            converted: combine(type, known.converted, part.converted),
            count: known.count + part.count,
          }
        : part,
    )
  }
  return {
    parts: [...parts.values()].sort((a, b) => (a.currency < b.currency ? -1 : 1)),
    used: onceInOrder(exchanges.flatMap(({ used }) => used)),
    held: onceInOrder(exchanges.flatMap(({ held }) => held)),
    stale: onceInOrder(exchanges.flatMap(({ stale }) => stale)),
  }
}

/**
 * The rates by which usage of a closed time is converted again: those kept with its invoice, and stored ones of other
 * pairs or of before the first that was kept. A rate that is corrected or added later changes nothing that was billed.
 */
export function preferInvoiceRates(
  kept: readonly ExchangeRate[],
  stored: readonly ExchangeRate[],
): readonly ExchangeRate[] {
  if (kept.length === 0) return stored
  const pairOf = ({ base_currency, currency }: ExchangeRate): string => `${base_currency} ${currency}`
  const since = new Map<string, number>()
  for (const rate of kept)
    since.set(pairOf(rate), Math.min(at(rate.rate_timestamp), since.get(pairOf(rate)) ?? Number.POSITIVE_INFINITY))
  const others = stored.filter(rate => at(rate.rate_timestamp) < (since.get(pairOf(rate)) ?? Number.POSITIVE_INFINITY))
  return [...kept, ...others]
}

function onceInOrder(rates: readonly ExchangeRate[]): ExchangeRate[] {
  const keyOf = ({ base_currency, currency, rate_timestamp }: ExchangeRate): string =>
    `${base_currency} ${currency} ${rate_timestamp}`
  const once = new Map(rates.map(rate => [keyOf(rate), rate]))
  return [...once].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, rate]) => rate)
}

function averaged(figure: UsageFigure): UsageFigure {
  const over = <T extends { readonly count: number; readonly number: Decimal }>(of: T): T => ({
    ...of,
    number: of.number.div(decimalOfInteger(of.count)),
  })
  const { exchange } = figure
  if (!exchange) return over(figure)
  const parts = exchange.parts.map(part => ({
    ...over(part),
    converted: part.converted.div(decimalOfInteger(part.count)),
  }))
  return { ...over(figure), exchange: { ...exchange, parts } }
}

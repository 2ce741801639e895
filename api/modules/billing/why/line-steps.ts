// The steps of one line, each with what it adds and the amount of the line after it. Pure.
import type { RoundingMode } from '../../../../shared/billing/amount-pipeline.ts'
import { isWhole, timesFraction } from '../../../../shared/billing/fraction.ts'
import { type Because, isCharged, type Line } from '../../../../shared/billing/steps/line.ts'
import { type Decimal, plain } from '../../../../shared/decimal.ts'
import { amount, amountView, toMoney } from '../../../../shared/money.ts'
import { describeCharge } from '../../../../shared/rating/describe.ts'
import { lineId } from '../../invoices/document/lay-out.ts'
import { prorationPeriod } from '../charges/charge.ts'
import { pathOfClause } from '../rating/clauses-of.ts'
import { describe } from '../rating/credit-details.ts'
import { convertedText } from '../rating/foreign-usage.ts'
import { includedText } from '../rating/price-details.ts'
import { dueOf, type RatedCharge, signed } from '../rating/rate-charge.ts'
import { isMetered } from '../terms/price-terms.ts'
import type { StepView } from './schema.ts'

type Money = { readonly currency: string; readonly rounding: RoundingMode }

const view = (quantity: Decimal, currency: string) => amountView(amount(quantity, currency))

/** From what was metered to the printed amount of a charge's line. */
export function chargeSteps(rated: RatedCharge, { currency, rounding }: Money): StepView[] {
  const { charge, metered, included, before, scale, share, exact, quantity } = rated
  const { total } = rated.rated
  const due = dueOf(charge, rated)
  const scaled = timesFraction(due, scale)
  const owed = timesFraction(scaled, share)
  const printed = rounding === 'UNROUNDED' ? quantity : toMoney(amount(quantity, currency)).quantity
  if (rated.credits)
    return [
      { step: 'USAGE', description: describe(rated, rated.credits), quantity: plain(metered.quantity) },
      {
        step: 'PRICE',
        description: 'Credits that wallets lack are charged by the item that sells them',
        amount: view(quantity, currency),
      },
    ]
  const steps: (StepView | null)[] = [
    isMetered(charge)
      ? {
          step: 'USAGE',
          description: [
            `${charge.calculation?.calculation_type} of ${charge.calculation?.reference}`,
            `${plain(metered.count)} events`,
            ...convertedText(rated, charge.schedule.pricing_currency),
          ].join(', '),
          quantity: plain(metered.quantity),
        }
      : { step: 'USAGE', description: 'Not metered', quantity: plain(metered.quantity) },
    included && {
      step: 'INCLUDED_VOLUME',
      description: includedText(included, currency).join(', ') || 'Nothing of it was left',
      quantity: plain(metered.quantity.minus(included.used.quantity)),
    },
    ...rated.rated.charges.map(
      (band): StepView => ({
        step: 'BAND',
        description: describeCharge(band, currency),
        quantity: plain(band.units),
        change: view(band.quantity, currency),
      }),
    ),
    { step: 'PRICE', description: 'All bands together', amount: view(total.quantity, currency) },
    before && {
      step: 'PREVIOUSLY_BILLED',
      description: 'Less what earlier invoices charged of the same time',
      change: view(before.total.quantity.neg(), currency),
      amount: view(due, currency),
    },
    isWhole(scale)
      ? null
      : {
          step: 'PRICING_PERIOD',
          description: `× ${plain(scale.numerator)} ÷ ${plain(scale.denominator)} of the price period`,
          amount: view(scaled, currency),
        },
    isWhole(share)
      ? null
      : {
          step: 'PRORATION',
          description: `× ${prorationPeriod(charge).coveredDays} ÷ ${prorationPeriod(charge).fullDays} days`,
          amount: view(owed, currency),
        },
    charge.productItem.type === 'DEDUCTION'
      ? { step: 'DEDUCTION', description: 'Deducted from the invoice', amount: view(signed(charge, owed), currency) }
      : null,
    printed.eq(exact)
      ? null
      : {
          step: 'ROUNDING',
          description: quantity.eq(exact)
            ? 'Half up, to the places of the currency'
            : 'So that the printed parts of the whole add up to the printed whole',
          change: view(printed.minus(exact), currency),
          amount: view(printed, currency),
        },
  ]
  return steps.filter(step => step !== null)
}

/** What clauses and wallets did to a line, or what a line that one of them made was computed from. */
export function clauseSteps(line: Line, all: readonly Line[], { currency }: Money): StepView[] {
  if (!isCharged(line) || line.because.some(({ lineKey }) => lineKey === line.key)) return madeBy(line, all, currency)
  let net = line.exact
  return line.because.map(why => {
    net = net.plus(why.exact)
    return {
      ...stepOf(why, currency),
      change: view(why.exact, currency),
      amount: view(net, currency),
      line_id: lineId(why.lineKey),
    }
  })
}

function madeBy(line: Line, all: readonly Line[], currency: string): StepView[] {
  const [own] = line.because
  if (!own) return []
  const changed = all.flatMap(other =>
    other.key === line.key
      ? []
      : other.because.flatMap((why): StepView[] =>
          why.lineKey === line.key
            ? [{ ...stepOf(why, currency), change: view(why.exact, currency), line_id: lineId(other.key) }]
            : [],
        ),
  )
  return [...changed, { ...stepOf(own, currency), amount: view(line.exact, currency) }]
}

function stepOf({ step, clauseId, base, percentage, share, coupon, taken }: Because, currency: string): StepView {
  const of = `of ${plain(base)} ${currency}`
  const parts = [
    percentage === null ? `from ${plain(base)} ${currency}` : `${plain(percentage)} % ${of}`,
    ...(share === null ? [] : [`for ${plain(share.numerator)}/${plain(share.denominator)} of it`]),
    ...(coupon === null ? [] : [`coupon ${coupon.couponId}`]),
    ...(taken === undefined ? [] : [`beyond the ${plain(taken)} ${currency} that were deducted ahead`]),
  ]
  return { step, description: parts.join(', '), clause: pathOfClause(clauseId) }
}

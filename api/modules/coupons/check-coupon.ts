// Whether a coupon can be given as it is: one kind of discount, for one duration. Pure.
import { decimal, HUNDRED, ZERO } from '../../../shared/decimal.ts'
import { AppError } from '../../../shared/errors.ts'
import type { CouponDiscount, CouponDuration } from './schema.ts'

const invalid = (message: string, field: string): AppError => new AppError('INVALID_FIELD', message, { field })
const missing = (message: string, field: string): AppError => new AppError('MISSING_FIELD', message, { field })

const MEMBER = { PERCENTAGE: 'percentage', AMOUNT: 'amount', USAGE: 'usage' } as const

/** Throws unless the discount is what its type says, and nothing else. */
export function checkCouponDiscount(discount: CouponDiscount): void {
  const own = MEMBER[discount.type]
  if (!discount[own]) throw missing(`A coupon of type ${discount.type} has its ${own}; give it.`, `discount.${own}`)
  for (const other of Object.values(MEMBER)) {
    if (other !== own && discount[other])
      throw invalid(`A coupon of type ${discount.type} has no ${other}; leave it out.`, `discount.${other}`)
  }
  const { percentage, amount, usage, condition } = discount
  if (percentage && (decimal(percentage).lte(ZERO) || decimal(percentage).gt(HUNDRED)))
    throw invalid('A coupon takes off more than 0 and at most 100 percent.', 'discount.percentage')
  if (amount && decimal(amount.quantity).lte(ZERO))
    throw invalid('The amount of a coupon must be above 0; the invoice deducts it.', 'discount.amount.quantity')
  if (usage) checkUsage(usage)
  if (condition && usage)
    throw invalid(
      'A condition compares an amount of money, and this coupon gives usage; leave it out.',
      'discount.condition',
    )
  if (condition && amount && condition.value.amount.currency !== amount.currency)
    throw invalid(
      `The coupon is in ${amount.currency}; give the condition in it.`,
      'discount.condition.value.amount.currency',
    )
}

function checkUsage({ number, amount }: NonNullable<CouponDiscount['usage']>): void {
  if (!number && !amount) throw missing('Say how much usage is free: a number, or an amount.', 'discount.usage.number')
  if (number && amount)
    throw invalid('Free usage is a number or an amount; give only one of them.', 'discount.usage.amount')
  if (number && decimal(number).lte(ZERO)) throw invalid('Free usage is above 0.', 'discount.usage.number')
  if (amount && decimal(amount.quantity).lte(ZERO))
    throw invalid('Free usage is above 0.', 'discount.usage.amount.quantity')
}

/** Throws unless a PERIOD, and nothing else, has a length. */
export function checkCouponDuration({ type, period }: CouponDuration): void {
  if (type === 'PERIOD' && !period)
    throw missing('A duration of type PERIOD has its period; give it.', 'duration.period')
  if (type !== 'PERIOD' && period)
    throw invalid(`A duration of type ${type} has no period; leave it out, or use PERIOD.`, 'duration.period')
}

/** Throws when there is no time in which it could be redeemed. */
export function checkRedeemableTime({ start_at, end_at }: { start_at: string | null; end_at: string | null }): void {
  if (start_at && end_at && end_at <= start_at) throw invalid('It ends after it starts; send a later end_at.', 'end_at')
}

// How much of a payment counts towards its invoice. Pure.
import { type Decimal, decimal } from '../../../shared/decimal.ts'
import type { Payment } from './table.ts'

/** What counts of a payment: its amount less what was paid back. */
export const netOfRefunds = ({
  amount: { quantity },
  refunded_amount,
}: Pick<Payment, 'amount' | 'refunded_amount'>): Decimal => decimal(quantity).minus(refunded_amount.quantity)

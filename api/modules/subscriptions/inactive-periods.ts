// What `inactive_periods` says of a subscription that ends: one entry of type CANCEL from when on it is billed no more. Pure.
import type { Subscription } from './table.ts'

type Periods = Pick<Subscription, 'inactive_periods'>
type Ending = Pick<Subscription, 'inactive_periods' | 'cancelled_at'>

const others = ({ inactive_periods }: Periods): Subscription['inactive_periods'] =>
  inactive_periods.filter(period => period.type !== 'CANCEL')

/** The columns of one that ends then, instead of when it would have. With `refund` its charges ahead are credited for the days left. */
export const endedAt = (subscription: Periods, start_at: string, refund = false): Ending => ({
  inactive_periods: [
    ...others(subscription),
    { type: 'CANCEL', start_at, ...(refund ? { refund_advance_charges: true } : {}) },
  ],
  cancelled_at: start_at,
})

/** The columns of one that no longer ends. */
export const runningOn = (subscription: Periods): Ending => ({
  inactive_periods: others(subscription),
  cancelled_at: null,
})

// What `inactive_periods` says: one entry of type CANCEL, or UPGRADE, from when on a subscription is billed no more, and one of type
// PAUSE for each time in which it is not. Pure.
import { at, type Interval, instantOf, interval } from '../../../../shared/time.ts'
import type { Subscription } from '../table.ts'

type Periods = Pick<Subscription, 'inactive_periods'>
type Ending = Pick<Subscription, 'inactive_periods' | 'cancelled_at'>

const others = ({ inactive_periods }: Periods): Subscription['inactive_periods'] =>
  inactive_periods.filter(period => period.type === 'PAUSE')

type Manner = { readonly type?: 'CANCEL' | 'UPGRADE'; readonly refund?: boolean; readonly byTerm?: boolean }

/**
 * The columns of one that ends then, instead of when it would have. With `refund` its charges ahead are credited for the days left; `byTerm`
 * where it ends since it is not renewed.
 */
export const endedAt = (
  subscription: Periods,
  start_at: string,
  { type = 'CANCEL', refund = false, byTerm = false }: Manner = {},
): Ending => ({
  inactive_periods: [
    ...others(subscription),
    {
      type,
      start_at,
      ...(refund ? { refund_advance_charges: true } : {}),
      ...(byTerm ? { ends_with_term: true } : {}),
    },
  ],
  cancelled_at: start_at,
})

/** Whether one says that it ends since it is not renewed. Versions before did not write that down. */
export const saysTerm = ({ inactive_periods }: Periods): boolean =>
  inactive_periods.some(({ ends_with_term: byTerm }) => byTerm === true)

/** Whether a subscription with these inactive periods ends, by a cancellation or since another one takes its place. */
export const isEnding = (periods: readonly { readonly type?: string }[]): boolean =>
  periods.some(({ type }) => type === 'CANCEL' || type === 'UPGRADE')

/** The columns of one that no longer ends. */
export const runningOn = (subscription: Periods): Ending => ({
  inactive_periods: others(subscription),
  cancelled_at: null,
})

/** A pause without an end lasts as long as anything is computed. */
const UNTIL_FURTHER_NOTICE = instantOf(Date.UTC(2200, 0, 1))
type InactivePeriods = readonly { readonly type?: string; readonly start_at: string; readonly end_at?: string | null }[]

/** When a subscription with these inactive periods is paused, in the order of time. */
export const pausesIn = (periods: InactivePeriods): Interval[] =>
  periods
    .flatMap(({ type, start_at, end_at }) => {
      if (type !== 'PAUSE') return []
      const [start, end] = [at(start_at), end_at ? at(end_at) : UNTIL_FURTHER_NOTICE]
      // One that was ended as it began was none.
      return start < end ? [interval(start, end)] : []
    })
    .toSorted((a, b) => a.start - b.start)

// Where an assignment stands at a time. Pure.
import type { Subscription } from '../table.ts'
import type { SeatAssignment } from './table.ts'

export const SEAT_STATUSES = ['SCHEDULED', 'ACTIVE', 'ENDED'] as const
export type SeatStatus = (typeof SEAT_STATUSES)[number]

/** Times are canonical. From its start on it is ACTIVE, and from its end on ENDED. One that ends as it starts was taken back: ENDED. */
export function seatStatus({ start_at, end_at }: Pick<SeatAssignment, 'start_at' | 'end_at'>, now: string): SeatStatus {
  if (end_at !== null && (end_at <= now || end_at <= start_at)) return 'ENDED'
  return start_at > now ? 'SCHEDULED' : 'ACTIVE'
}

/** Whether a subscription has no seats any more: it has ended, whether or not that is settled, or was made by mistake. */
export const hasNoSeats = (
  { status, cancelled_at }: Pick<Subscription, 'status' | 'cancelled_at'>,
  now: string,
): boolean => (status !== 'DRAFT' && status !== 'ACTIVE') || (cancelled_at !== null && cancelled_at <= now)

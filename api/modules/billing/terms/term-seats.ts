// How many seats a price charges over time: those that its schedule states, those that are assigned, or its own number
// (semantics 4.4). Pure.
import { type SeatChange, seatChanges, withStatedSeats } from '../../../../shared/billing/charging/seats.ts'
import { type Decimal, decimal } from '../../../../shared/decimal.ts'
import { at, type Instant } from '../../../../shared/time.ts'
import { countsAssignments } from '../../subscriptions/seats/seat-count.ts'
import type { BillingInputs, ConfigInput, ProductItemInput, ScheduleInput } from './billing-inputs.ts'

type Seated = { readonly schedule: ScheduleInput; readonly productItem: ProductItemInput; readonly config: ConfigInput }

/** The seats that the schedule states, and at other times those of the price; null for one number at all times. */
export function seatChangesOf(inputs: BillingInputs, of: Seated): SeatChange[] | null {
  const { schedule, productItem, config } = of
  if (productItem.model_type !== 'PER_SEAT') return null
  const assigned = countsAssignments(config) ? assignedSeats(inputs, productItem) : null
  const stated = (schedule.seats_values ?? []).filter(each => each.pricing_item_config_id === config.id)
  if (stated.length === 0) return assigned
  const byDefault = [{ at: at(schedule.start_at), seats: seatsByDefault(config) }]
  return withStatedSeats(
    assigned ?? byDefault,
    stated.map(({ number, start_at, end_at }) => ({
      start: at(start_at ?? schedule.start_at),
      end: end_at ? at(end_at) : null,
      seats: decimal(number),
    })),
  )
}

/** The seats that the schedule or the price states for this moment; null where assignments count. */
export function statedSeatsAt(
  { schedule, config }: Pick<Seated, 'schedule' | 'config'>,
  moment: Instant,
): Decimal | null {
  const stated = (schedule.seats_values ?? []).find(
    ({ pricing_item_config_id: id, start_at, end_at }) =>
      id === config.id && (!start_at || at(start_at) <= moment) && (!end_at || moment < at(end_at)),
  )
  const number = stated?.number ?? config.default_seats_value?.number ?? null
  return number === null ? null : decimal(number)
}

/** The seats that a price states itself; 0 where it counts assignments. */
export const seatsByDefault = ({ default_seats_value: stated }: ConfigInput): Decimal => decimal(stated?.number ?? '0')

function assignedSeats({ seats = [] }: BillingInputs, { id }: ProductItemInput): SeatChange[] | null {
  const own = seats.filter(seat => seat.product_item_id === id)
  if (own.length === 0) return null
  return seatChanges(
    own.map(({ start_at, end_at }) => ({ start: at(start_at), end: end_at === null ? null : at(end_at) })),
  )
}

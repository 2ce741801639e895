// What decides on the number of seats that a price charges. Pure.

type SeatCount = { readonly default_seats_value?: { readonly number?: string | null } | null }

/** Whether a PER_SEAT price charges the seats that are assigned: it does where it states no number of its own. */
export const countsAssignments = ({ default_seats_value: stated }: SeatCount): boolean =>
  (stated?.number ?? null) === null

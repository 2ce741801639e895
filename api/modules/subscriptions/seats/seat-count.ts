// What decides on the number of seats that a price charges. Pure.

type SeatCount = { readonly default_seats_value?: { readonly number?: string | null } | null }
type SeatGrants = { readonly wallet_grants?: readonly { readonly source: string | null }[] | null }

/** Whether a PER_SEAT price charges the seats that are assigned: it does where it states no number of its own. */
export const countsAssignments = ({ default_seats_value: stated }: SeatCount): boolean =>
  (stated?.number ?? null) === null

/** Whether a price grants to each assignment of a seat (contract: Wallet rules 4). */
export const grantsPerSeat = ({ wallet_grants: rules }: SeatGrants): boolean =>
  (rules ?? []).some(({ source }) => source === 'PER_SEAT')

/** Whether what a price charges or grants depends on the assignments of its seats. */
export const followsAssignments = (config: SeatCount & SeatGrants): boolean =>
  countsAssignments(config) || grantsPerSeat(config)

// Wire shapes of reservations.
import Type, { type Static } from 'typebox'
import { Amount, IdText, Nullable, OneOf, Optional, Reference, Shape, Timestamp } from '../../../resource/shapes.ts'
import { Credits } from '../../catalog/credit-types/schema.ts'
import { RESERVATION_STATUSES } from '../schema.ts'

const UNIT_MS = { SECOND: 1_000, MINUTE: 60_000, HOUR: 3_600_000 } as const

const Lease = Shape(
  { type: OneOf('SECOND', 'MINUTE', 'HOUR'), value: Type.Integer({ minimum: 1, maximum: 3_600 }) },
  { title: 'WalletReservationLease' },
)
const LEASE_DEFAULT = { type: 'MINUTE', value: 10 } as const

/** Duration of a lease in milliseconds. */
export const leaseMs = ({ type, value }: Static<typeof Lease> = LEASE_DEFAULT): number => UNIT_MS[type] * value

const given = { amount: Optional(Nullable(Amount)), credits: Optional(Nullable(Credits)) }

export const ReserveBody = Shape({
  ...given,
  reference: Reference,
  customer_id: Optional(Nullable(IdText('customer'))),
  lease: Optional(Nullable(Lease)),
})
export const CommitBody = Shape({
  ...given,
  event_reference: Optional(Nullable(Type.String({ minLength: 1, maxLength: 255 }))),
})

export const Reservation = Type.Object(
  {
    object_type: Type.Literal('WALLET_RESERVATION'),
    id: Type.String(),
    wallet_id: Type.String(),
    reference: Type.String(),
    status: Type.Enum([...RESERVATION_STATUSES]),
    amount: Nullable(Amount),
    credits: Nullable(Credits),
    committed_amount: Nullable(Amount),
    committed_credits: Nullable(Credits),
    event_reference: Nullable(Type.String()),
    lease_until: Timestamp,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'WalletReservation' },
)

export type Given = { readonly amount?: Static<typeof Amount> | null; readonly credits?: Static<typeof Credits> | null }

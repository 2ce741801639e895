// What the charges of an invoice grant to wallets. Billing computes it with the invoice, and the wallets follow the
// saved invoice (api/modules/wallets/rules/follow-charges.ts).
import type { MoneyView } from './schema.ts'

/** The charge behind a grant: enough to find it again, and to say why it is gone. */
export type ChargeOfGrant = {
  /** The same for the same charge and rule whenever they are computed; unique among all charges of a tenant. */
  readonly key: string
  readonly invoice_id: string
  readonly schedule_id: string
  readonly schedule_start_at: string
  readonly schedule_end_at: string | null
  /** The end of the time that the charge pays for. */
  readonly service_end_at: string
  /** Whether the subscription was to be cancelled when the charge granted. */
  readonly cancelled: boolean
  /** Set when the grant was reverted because the charge was gone. */
  readonly gone?: true
}

/** A grant by the rule of a price. */
export type ChargeGrant = {
  readonly charge: Omit<ChargeOfGrant, 'invoice_id'>
  readonly wallet_type_id: string
  readonly source: 'CHARGE' | 'SEAT_POOL' | 'PER_SEAT'
  /** Of what the wallets of the type hold. */
  readonly quantity: string
  readonly paid_amount?: MoneyView
  readonly start_at: string
  readonly expire_at: string | null
  readonly description: string
  /** Of a grant PER_SEAT. */
  readonly seat?: { readonly customer_id: string; readonly product_item_id: string }
  readonly seat_assignment_id?: string
  /** Whether the assignment is beyond the paid seats. */
  readonly over_granted?: true
}

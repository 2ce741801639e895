// Wire shapes of wallets.
import Type, { type Static } from 'typebox'
import { type Amount, Currency, IdText, Nullable, OneOf, Optional, Shape, TaxCategory } from '../../resource/shapes.ts'
import { Credits } from '../catalog/credit-types/schema.ts'

const AmountTerms = Shape(
  { default_currency: Optional(Nullable(Currency)), tax_category: Optional(Nullable(TaxCategory)) },
  { title: 'WalletTypeCreditAmountGrant' },
)
const CreditsTerms = Shape({ credit_type_id: IdText('credit type') }, { title: 'WalletTypeCreditCreditsGrant' })

export const CreditTerms = Shape(
  {
    grant_type: OneOf('CREDITS', 'AMOUNT'),
    amount_grant: Optional(Nullable(AmountTerms)),
    credits_grant: Optional(Nullable(CreditsTerms)),
  },
  { title: 'WalletTypeCredit' },
)
export const BalanceTerms = Shape({ default_currency: Optional(Nullable(Currency)) }, { title: 'WalletTypeBalance' })

export type CreditTerms = Static<typeof CreditTerms>
export type BalanceTerms = Static<typeof BalanceTerms>

/** Why the service reverted a grant (contract: Wallet grants and balances). */
export const REVERT_REASONS = [
  'INVOICE_VOIDED',
  'SCHEDULE_DATES_CHANGED',
  'SCHEDULE_DELETED',
  'SUBSCRIPTION_CANCELLED',
  'SUBSCRIPTION_UPGRADED',
  'SUBSCRIPTION_VOIDED',
  'SUBSCRIPTION_CANCEL_UNDONE',
  'WALLET_GRANT_REVERTED',
] as const
export const GrantSource = Type.Enum(['MANUAL', 'CHARGE', 'SEAT_POOL', 'PER_SEAT'], {
  description:
    'What granted it: a call (MANUAL), or the rule of a price: by its charge (CHARGE), by its paid seats together (SEAT_POOL), or by one assignment of a seat (PER_SEAT).',
})
/** The customer who may spend a PER_SEAT grant, and the item that the seat is for (contract: Wallet grants and balances, seat). */
export const GrantSeat = Shape(
  { customer_id: IdText('customer'), product_item_id: IdText('product item') },
  { title: 'WalletGrantSeat' },
)
/** Granted beyond the paid seats; it is not withheld (contract: Wallet rules 4). */
export const OverGranted = Shape({ credits: Credits }, { title: 'WalletOverGranted' })
export const RevertReasonText = Type.Enum([...REVERT_REASONS])

export type RevertReason = (typeof REVERT_REASONS)[number]
export type MoneyView = Static<typeof Amount>

/** EXPIRED: its lease ended before it was committed or released. */
export const RESERVATION_STATUSES = ['ACTIVE', 'COMMITTED', 'RELEASED', 'EXPIRED'] as const
export type ReservationStatus = (typeof RESERVATION_STATUSES)[number]

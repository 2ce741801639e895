// Wire shapes of wallets.
import Type, { type Static } from 'typebox'
import {
  Amount,
  Currency,
  DecimalText,
  IdText,
  Nullable,
  OneOf,
  Optional,
  Shape,
  TaxCategory,
} from '../../resource/shapes.ts'

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

export const Credits = Shape({ quantity: DecimalText, credit_type_id: IdText('credit type') }, { title: 'Credits' })

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
export const GrantSource = Type.Enum(['MANUAL', 'SEAT_POOL', 'PER_SEAT'], {
  description: 'What granted it: a call (MANUAL), or the rule of a price.',
})
export const RevertReasonText = Type.Enum([...REVERT_REASONS])

export type RevertReason = (typeof REVERT_REASONS)[number]
export type MoneyView = Static<typeof Amount>
export type CreditsView = Static<typeof Credits>

/** Credits or money, by what the wallet holds. */
export const WalletBalanceValue = Type.Object(
  { credits: Optional(Credits), amount: Optional(Amount) },
  { title: 'WalletBalanceValue' },
)

/** EXPIRED: its lease ended before it was committed or released. */
export const RESERVATION_STATUSES = ['ACTIVE', 'COMMITTED', 'RELEASED', 'EXPIRED'] as const
export type ReservationStatus = (typeof RESERVATION_STATUSES)[number]

// Wire shapes of units, of quantities of credits, and of what wallets hold.
import Type, { type Static } from 'typebox'
import { Amount, DecimalText, IdText, Optional, Shape } from '../../../resource/shapes.ts'

const UnitText = Type.String({ minLength: 1, maxLength: 64 })
/** What one and several units are called; of product items too. */
export const UnitName = Shape({ singular: UnitText, plural: UnitText })
export type UnitName = Static<typeof UnitName>

export const Credits = Shape({ quantity: DecimalText, credit_type_id: IdText('credit type') }, { title: 'Credits' })
export type CreditsView = Static<typeof Credits>

/** Credits or money, by what the wallet holds. */
export const WalletBalanceValue = Type.Object(
  { credits: Optional(Credits), amount: Optional(Amount) },
  { title: 'WalletBalanceValue' },
)

// Wire shapes of a payment acceptor. Only the kinds that act are here; any other is refused by name.
import Type, { type Static } from 'typebox'
import { Nullable, OneOf, Optional, Shape } from '../../../resource/shapes.ts'

export const BankAccount = Shape({
  type: OneOf('IBAN'),
  iban: Type.String({ minLength: 15, maxLength: 42, description: 'The IBAN, with or without spaces.' }),
  bic: Optional(Nullable(Type.String({ pattern: '^[A-Z0-9]{8}([A-Z0-9]{3})?$' }))),
  bank_name: Optional(Nullable(Type.String({ maxLength: 255 }))),
})

export const CustomRedirect = Shape(
  { url: Type.String({ maxLength: 2_000 }) },
  { title: 'PaymentAcceptorCustomRedirect' },
)

export type BankAccount = Static<typeof BankAccount>
export type CustomRedirect = Static<typeof CustomRedirect>

// Wire shapes of exchange rates.
import Type, { type Static } from 'typebox'

export const Source = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'Who published the rate. Invoices show it.',
})

/** What a rate was before it was corrected. */
export const Correction = Type.Object(
  { rate: Type.String(), source: Type.String(), corrected_at: Type.String() },
  { title: 'ExchangeRateCorrection' },
)
export type RateCorrection = Static<typeof Correction>

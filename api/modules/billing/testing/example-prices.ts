// Prices of usage for property-based tests: of every model, with bands, limits and blocks.
import fc from 'fast-check'
import { decimal, plain } from '../../../../shared/decimal.ts'
import { eur, metered } from './example-inputs.ts'

const amountText = fc.integer({ min: 0, max: 99_999 }).map(units => plain(decimal(String(units)).div(decimal('10000'))))
const bandOf = (top: number | null, amount: string, more: object) => ({
  amount: eur(amount),
  ...more,
  ...(top === null ? {} : { tier_top_bound: { number: String(top) } }),
})
const limits = fc.oneof(
  fc.constant({}),
  amountText.map(text => ({ minimum_amount: eur(text) })),
  amountText.map(text => ({ maximum_amount: eur(text) })),
  amountText.map(text => ({ fixed_amount: eur(text) })),
  fc.constant({ block_size: { number: '7' } }),
)
/** Bands with one price each, the last without an upper bound. */
export const anyTiers = fc
  .tuple(
    fc.uniqueArray(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 3 }),
    fc.array(amountText, { minLength: 4, maxLength: 4 }),
  )
  .map(([tops, prices]) =>
    [...tops.toSorted((a, b) => a - b), null].map((top, index) => bandOf(top, prices[index] ?? '0', {})),
  )
export const anyPrice = fc.oneof(
  fc.tuple(amountText, limits).map(([text, more]) => metered([bandOf(null, text, more)])),
  fc
    .tuple(fc.constantFrom('TIERED', 'TOP_TIERED', 'STAIR_STEP'), anyTiers)
    .map(([pricing_type, bands]) =>
      metered(
        pricing_type === 'STAIR_STEP' ? bands.map(({ amount, ...band }) => ({ ...band, fixed_amount: amount })) : bands,
        { pricing_type },
      ),
    ),
)

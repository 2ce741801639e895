// A line has one price: what is wrong with it is said in the words of the line, not in those of a price with many bands.
import { expect, test } from 'vitest'
import { priceOfLine } from './price-added-line.ts'

const usd = { quantity: '1', currency: 'USD' }

test.each([
  [
    { fixed_amount: usd },
    'pricing_band.fixed_amount.currency',
    'pricing_band.fixed_amount is in USD, the price is in EUR.',
  ],
  [{ amount: usd }, 'pricing_band.amount.currency', 'pricing_band.amount is in USD, the price is in EUR.'],
])('%o is refused at %s', (pricing_band, field, message) => {
  const read = () => priceOfLine({ pricing_type: 'FIXED', pricing_band }, 'EUR')
  expect(read).toThrow(expect.objectContaining({ message, details: { field } }))
})

// Every price that contradicts itself is refused when it is saved, by the field that is wrong, so none reaches billing. Those that take
// a database to see are in contradictions.it.test.ts; a pricing period of credits that is wider than what the subscription names, in
// wallets/spending/credit-prices.it.test.ts. A price in money is divided there (docs/decisions 0028).
import { expect, test } from 'vitest'
import { AppError } from '../../../../../shared/errors.ts'
import { canonicalItems } from '../canonical-items.ts'
import type { PricingItemInput, SplitPricing } from '../schema.ts'
import { checkVariants } from '../variants/check-variants.ts'
import { variantsOf } from '../variants/variants.ts'
import { checkPrice } from './check-price.ts'
import { CONTRADICTIONS } from './testing/contradictions.ts'

const cases = CONTRADICTIONS.map(([name, of, item, field, code = 'INVALID_FIELD']) => ({ name, of, item, field, code }))

test.each(cases)('$name', ({ of, item, field, code }) => {
  const given: PricingItemInput = { product_item_ids: ['proi_1'], ...item }
  const refused = (): unknown => {
    try {
      const [found] = canonicalItems([given], [], { conditions: new Map(), splits: splitsIn(given) })
      if (!found) throw new Error('one item in, one item out')
      checkVariants(found, 'items.0')
      for (const variant of variantsOf(found))
        for (const [index, config] of variant.configs.entries())
          checkPrice(config, of, `items.0.${variant.path}.${index}`, variant)
      return null
    } catch (error) {
      if (error instanceof AppError) return [error.code, error.details.field]
      throw error
    }
  }
  expect(refused()).toEqual([code, `items.0.${field}`])
})

/** The properties that a price is split by, as the catalog finds them. */
const splitsIn = ({ configs }: PricingItemInput): Map<string, SplitPricing> =>
  new Map(
    (configs ?? []).flatMap(({ split_pricing: split }, index) =>
      split
        ? [[`items.0.configs.${index}.split_pricing`, { meter_properties: [{ id: 'metp_1', reference: 'region' }] }]]
        : [],
    ),
  )

// Whether the grant rules of a price can be applied (contract: Wallet rules 4 and 5). Pure; what depends on the wallet
// types is checked by the wallets (api/modules/wallets/rules).
import { decimal, isPlainDecimal, ZERO } from '../../../../../shared/decimal.ts'
import { AppError } from '../../../../../shared/errors.ts'
import { isByUnits } from '../../../../../shared/rating/rate.ts'
import { isMeasured, type ModelType } from '../../products/schema.ts'
import type { PricingItemConfig, WalletGrantRule } from '../schema.ts'

const refuse = (field: string, message: string): never => {
  throw new AppError('INVALID_FIELD', message, { field })
}

/** How a rule finds the quantity that it grants, and the member that says so. */
export type GrantTerms =
  | { readonly by: 'FIXED'; readonly quantity: string; readonly field: string }
  | { readonly by: 'PERCENTAGE' | 'CONVERSION'; readonly rate: string; readonly field: string }

/** The terms of a rule. Throws MISSING_FIELD or INVALID_FIELD, below `field`, unless it gives exactly one. */
export function termsOfRule({ amount_grant: money, credits_grant: credits }: WalletGrantRule, field = ''): GrantTerms {
  const given: GrantTerms[] = []
  if (money?.amount)
    given.push({ by: 'FIXED', quantity: money.amount.quantity, field: `${field}.amount_grant.amount.quantity` })
  if (money?.percentage)
    given.push({ by: 'PERCENTAGE', rate: money.percentage, field: `${field}.amount_grant.percentage` })
  if (credits?.credits)
    given.push({ by: 'FIXED', quantity: credits.credits.quantity, field: `${field}.credits_grant.credits.quantity` })
  if (credits?.conversion)
    given.push({ by: 'CONVERSION', rate: credits.conversion.rate, field: `${field}.credits_grant.conversion` })
  const [only, second] = given
  if (second) refuse(second.field, 'A rule grants in one way; leave the other members out.')
  if (only) return only
  throw new AppError(
    'MISSING_FIELD',
    'Say what the rule grants: amount_grant with amount or percentage, or credits_grant with credits or conversion.',
    { field: credits ? `${field}.credits_grant` : `${field}.amount_grant` },
  )
}

/** Throws MISSING_FIELD or INVALID_FIELD with a path below `field`, where the config stands. */
export function checkWalletGrants(config: PricingItemConfig, model: ModelType, field: string): void {
  for (const [index, rule] of (config.wallet_grants ?? []).entries()) {
    const path = `${field}.wallet_grants.${index}`
    if (isMeasured(model) || model === 'CREDITS')
      refuse(path, `A ${model} item grants nothing to wallets; give the rule to a RECURRING, ONE_OFF or PER_SEAT item.`)
    const terms = termsOfRule(rule, path)
    const value = terms.by === 'FIXED' ? terms.quantity : terms.rate
    if (!isPlainDecimal(value) || decimal(value).lte(ZERO)) refuse(terms.field, 'A rule grants more than zero.')
    if (model === 'ONE_OFF' && isByUnits(config.pricing_type) && terms.by !== 'FIXED') {
      const message =
        'A ONE_OFF item priced FLAT grants a fixed quantity for each unit; it cannot grant by what is paid for it.'
      refuse(terms.field, message)
    }
    checkSource(rule, terms, { model, path })
  }
}

function checkSource(
  { source, credits_grant: credits }: WalletGrantRule,
  terms: GrantTerms,
  { model, path }: { readonly model: ModelType; readonly path: string },
): void {
  if (source === null) return
  if (model !== 'PER_SEAT')
    refuse(`${path}.source`, `${source} grants by seats, and a ${model} item has none; leave source out.`)
  if (source === 'PER_SEAT' && !credits?.credits) {
    const message = 'A PER_SEAT rule grants a fixed number of credits to each seat; give credits_grant.credits.'
    refuse(`${path}.credits_grant.credits`, message)
  }
  if (source === 'SEAT_POOL' && terms.by !== 'FIXED')
    refuse(terms.field, 'A SEAT_POOL rule grants a fixed quantity for each paid seat.')
}

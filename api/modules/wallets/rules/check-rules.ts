// Whether the wallets can take what the rules of prices grant (contract: Wallet rules 3 and 4). The catalog has checked
// each rule by itself; what depends on the wallet types, and on other rules, is checked here.
import { isDeepStrictEqual } from 'node:util'
import { and, ne, type SQL } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idOf, idsOf } from '../../../../shared/ids.ts'
import { currencyOfPrice } from '../../../../shared/rating/parse/parse-price-config.ts'
import { beforeSave, containingAt, type Guard } from '../../../resource/rules.ts'
import { requireAll } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { pricingResource } from '../../catalog/pricing-plans/pricing.ts'
import { pricingPlanVersionResource } from '../../catalog/pricing-plans/pricing-plan-version.ts'
import type { PricingItem, PricingItemConfig, WalletGrantRule } from '../../catalog/pricing-plans/schema.ts'
import { type Pricing, type PricingPlanVersion, pricings } from '../../catalog/pricing-plans/table.ts'
import { canOverlap, type VariantKey, variantsOf } from '../../catalog/pricing-plans/variants/variants.ts'
import { rateCardChange } from '../../subscriptions/rate-cards/priced-schedules.ts'
import { scheduleResource } from '../../subscriptions/schedules/schedule.ts'
import type { Schedule } from '../../subscriptions/table.ts'
import { versionsInForce } from '../../subscriptions/versions-sold.ts'
import type { WalletType } from '../table.ts'
import { unitOf } from '../unit.ts'
import { walletTypeResource } from '../wallet-type.ts'

const refuse = (field: string, message: string): never => {
  throw new AppError('INVALID_FIELD', message, { field })
}

type Placed = {
  readonly rule: WalletGrantRule
  readonly config: PricingItemConfig
  readonly variant: VariantKey
  readonly productItemId: string
  /** The path of the rule. */
  readonly field: string
}

const rulesIn = (items: readonly PricingItem[]): Placed[] =>
  items.flatMap((item, index) =>
    variantsOf(item).flatMap(variant =>
      variant.configs.flatMap((config, place) =>
        (config.wallet_grants ?? []).map((rule, turn) => ({
          rule,
          config,
          variant,
          productItemId: item.product_item_ids[0] ?? '',
          field: `items.${index}.${variant.path}.${place}.wallet_grants.${turn}`,
        })),
      ),
    ),
  )

/** Throws RESOURCE_NOT_FOUND, INVALID_FIELD or INVALID_OPERATION with the path of the rule that cannot be applied. */
async function checkRules(uow: Uow, row: Pricing): Promise<void> {
  const rules = rulesIn(row.items)
  if (rules.length === 0) return
  const ids = rules.map(({ rule, field }) => ({ id: rule.wallet_type_id, field: `${field}.wallet_type_id` }))
  const types = new Map((await requireAll(uow, walletTypeResource, ids)).map(type => [type.id, type]))
  for (const placed of rules) {
    const type = types.get(idOf('wtyp', placed.rule.wallet_type_id))
    if (type) checkUnit(placed, type)
  }
  const placed = rules.map(rule => ({ ...rule, field: `${rule.field}.wallet_type_id` }))
  checkSeatKeys(placed, await otherRules(uow, row))
}

/** Contract, Wallet rules 3: a grant is in what the wallet holds. */
function checkUnit({ rule, config, field }: Placed, type: WalletType): void {
  const at = `${field}.wallet_type_id`
  if (type.status === 'ARCHIVED') refuse(at, 'The wallet type is ARCHIVED; choose another.')
  const unit = unitOf(type)
  const { amount_grant: money, credits_grant: credits } = rule
  if (unit.kind === 'CREDITS') {
    if (money) refuse(`${field}.amount_grant`, 'The wallets of this type hold credits; give credits_grant instead.')
    const [given, member] = credits?.credits
      ? [credits.credits.credit_type_id, 'credits.credit_type_id']
      : [credits?.conversion?.credit_type_id ?? unit.creditTypeId, 'conversion.credit_type_id']
    if (given !== unit.creditTypeId) {
      const message = `The wallets of this type hold credits of the type ${unit.creditTypeId}; grant those.`
      refuse(`${field}.credits_grant.${member}`, message)
    }
    return
  }
  if (credits) refuse(`${field}.credits_grant`, 'The wallets of this type hold money; give amount_grant instead.')
  const { currency } = unit
  if (currency === null) {
    const message = 'The wallet type has no default_currency and takes no grants until one is set there.'
    throw new AppError('INVALID_OPERATION', message, { field: at })
  }
  const wrong = `The wallets of this type hold ${currency}`
  if (money?.amount && money.amount.currency !== currency)
    refuse(`${field}.amount_grant.amount.currency`, `${wrong}; grant that.`)
  const priced = currencyOfPrice(config)
  if (money?.percentage && priced !== null && priced !== currency)
    refuse(`${field}.amount_grant.percentage`, `${wrong}; a percentage of a price in ${priced} cannot be granted.`)
}

/** Contract, Wallet rules 4: a wallet type granted from PER_SEAT has that rule alone. `field` is where a refusal points. */
function checkSeatKeys(own: readonly Placed[], others: readonly Placed[]): void {
  for (const [index, { rule, productItemId, variant, field }] of own.entries()) {
    const id = rule.wallet_type_id
    const before = [...others, ...own.slice(0, index)].filter(
      each => each.rule.wallet_type_id === id && canOverlap(each.variant, variant),
    )
    const [first] = before
    if (!first || (rule.source !== 'PER_SEAT' && first.rule.source !== 'PER_SEAT')) continue
    const isSameKey = rule.source === first.rule.source && productItemId === first.productItemId
    refuse(
      field,
      isSameKey
        ? `Another rule grants to the wallet type ${id} for each seat of the product item ${productItemId}; one rule has this key.`
        : `The wallet type ${id} is granted for each seat, so it can have no second rule; use another wallet type.`,
    )
  }
}

/** The rules of the other pricings of the version. It is held, so that they stay as they are. */
async function otherRules(uow: Uow, { id, pricing_plan_version_id }: Pick<Pricing, 'id' | 'pricing_plan_version_id'>) {
  // A pricing that is about to be created has no id yet.
  const isOther = id === undefined || id === null ? undefined : ne(pricings.id, id)
  return await rulesOf(uow, [pricing_plan_version_id], isOther)
}

async function rulesOf(uow: Uow, versionIds: readonly string[], only?: SQL): Promise<Placed[]> {
  const p = pricings
  const rows = await uow.tx
    .select({ items: p.items })
    .from(p)
    .where(and(inThisTenant(uow, p), anyOf(p.pricing_plan_version_id, idsOf('ppve', versionIds)), only))
  return rows.flatMap(({ items }) => rulesIn(items))
}

const SOLD = ['status', 'pricing_plan_version_id', 'own_pricing_plan_version_id', 'start_at', 'end_at'] as const

/** The same of what a schedule sells besides its plan. Throws INVALID_FIELD at `pricing_categories`. */
async function checkRulesBesides(uow: Uow, row: Schedule, previous: Schedule | null): Promise<void> {
  const { own_pricing_plan_version_id: own, pricing_plan_version_id: version } = row
  if (own === null || own === version || (previous && SOLD.every(name => row[name] === previous[name]))) return
  const rules = await rulesOf(uow, [own])
  if (rules.length === 0) return
  const others = (await versionsInForce(uow, row)).filter(id => id !== own)
  const placed = rules.map(rule => ({ ...rule, field: 'pricing_categories' }))
  checkSeatKeys(placed, await rulesOf(uow, others))
}

/** The same of a version of a rate card, beside the prices of the schedules that it will price. Throws INVALID_FIELD at `status`. */
async function checkRulesOfCard(uow: Uow, row: PricingPlanVersion, previous: PricingPlanVersion | null): Promise<void> {
  if (row.status !== 'ACTIVE') return
  const priced = (await rateCardChange(uow, row, previous))?.priced ?? []
  const scheduleOf = new Map(
    priced.flatMap(({ id, own_pricing_plan_version_id: own }) => (own ? [[own, id] as const] : [])),
  )
  const rules = scheduleOf.size === 0 ? [] : await rulesOf(uow, [row.id])
  if (rules.length === 0) return
  const placed = rules.map(rule => ({ ...rule, field: 'status' }))
  for (const [own, resourceId] of scheduleOf) {
    const others = await rulesOf(uow, [own])
    try {
      checkSeatKeys(placed, others)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      const message = `The schedule ${resourceId} has prices of its own beside this rate card. ${error.message}`
      const named = { resourceId, resourceType: scheduleResource.objectType }
      throw new AppError(error.code, message, { ...error.details, ...named })
    }
  }
}

/** Throws INVALID_FIELD for a change of what wallets hold that a rule grants to. */
async function keepTermsOfRules(uow: Uow, row: WalletType, previous: WalletType | null): Promise<void> {
  if (previous === null) return
  const { credit, balance } = row
  if (isDeepStrictEqual({ credit, balance }, { credit: previous.credit, balance: previous.balance })) return
  const [found] = await uow.tx
    .select({ id: pricings.id })
    .from(pricings)
    .where(
      and(inThisTenant(uow, pricings), containingAt(pricings.items, '$.**.wallet_grants[*].wallet_type_id')(row.id)),
    )
    .limit(1)
  if (!found) return
  const field = row.type === 'CREDIT' ? 'credit' : 'balance'
  refuse(field, `${field} cannot change: the pricing ${found.id} grants to it. Create another wallet type.`)
}

export const RULE_GUARDS: readonly Guard[] = [
  beforeSave(pricingResource, (uow, row: Pricing) => checkRules(uow, row)),
  beforeSave(scheduleResource, checkRulesBesides),
  beforeSave(pricingPlanVersionResource, checkRulesOfCard),
  beforeSave(walletTypeResource, keepTermsOfRules),
]

// Whether the credits that prices are in can be spent: their type exists, and is not retired.
import type { Uow } from '../../../../../shared/database/database.ts'
import { AppError } from '../../../../../shared/errors.ts'
import { creditTypeOf } from '../../../../../shared/rating/credits.ts'
import { requireAll } from '../../../../resource/store.ts'
import { creditTypeResource } from '../../credit-types/credit-type.ts'
import type { CreditType } from '../../credit-types/table.ts'
import type { PricingItem, PricingItemConfig } from '../schema.ts'
import { allConfigs, placedConfigs } from '../variants/variants.ts'

type Contents = { readonly items: readonly PricingItem[] }

/** Where a price first names its credit type, below the config. */
export const creditsField = ({ bands }: Pick<PricingItemConfig, 'bands'>): string =>
  `bands.${bands.findIndex(({ credits }) => credits)}.credits.credit_type_id`

/**
 * Throws RESOURCE_NOT_FOUND for prices in credits of a type that the tenant does not have, and INVALID_FIELD for one that is
 * ARCHIVED, unless the pricing had it before.
 */
export async function checkCreditTypes(uow: Uow, { items }: Contents, previous: Contents | null): Promise<void> {
  const named = items.flatMap((item, index) =>
    placedConfigs(item).flatMap(({ config, path }) => {
      const id = creditTypeOf(config)
      return id === null ? [] : [{ id, field: `items.${index}.${path}.${creditsField(config)}` }]
    }),
  )
  const types = await requireAll(uow, creditTypeResource, named)
  const before = (previous?.items ?? []).flatMap(item => allConfigs(item).map(creditTypeOf))
  for (const { id, field } of named) if (!before.includes(id)) refuseArchived(types, id, field)
}

/** Throws INVALID_FIELD for a new price in credits of a type that is ARCHIVED. */
export function refuseArchived(types: readonly CreditType[], id: string, field: string): void {
  if (types.find(type => type.id === id)?.status !== 'ARCHIVED') return
  throw new AppError('INVALID_FIELD', 'The credit type is ARCHIVED; choose another.', { field })
}

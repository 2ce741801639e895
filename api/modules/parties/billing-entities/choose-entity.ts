// Which billing entity bills a customer, by what the entities say of themselves.
import { and, asc, eq } from 'drizzle-orm'
import type { ReadUow } from '../../../../shared/database/database.ts'
import type { Id } from '../../../../shared/ids.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { type BillingEntity, billingEntities } from './table.ts'

type Selectors = Pick<BillingEntity, 'default_customer_country_selector' | 'default_billing_currency_selector'>
type Sale = { readonly country: string | null; readonly currency: string }

/**
 * The entity with the most selectors that name the sale, the first of several. One with a selector that names something else is not
 * chosen, nor is one without any; null when none is left. Pure.
 */
export function chosenEntity<T extends Selectors>(entities: readonly T[], { country, currency }: Sale): T | null {
  let best: { readonly entity: T; readonly matches: number } | null = null
  for (const entity of entities) {
    const selectors = [
      { list: entity.default_customer_country_selector ?? [], value: country },
      { list: entity.default_billing_currency_selector ?? [], value: currency },
    ].filter(({ list }) => list.length > 0)
    const isNamed = selectors.every(({ list, value }) => value !== null && list.includes(value))
    if (isNamed && selectors.length > (best?.matches ?? 0)) best = { entity, matches: selectors.length }
  }
  return best?.entity ?? null
}

/** The id of the ACTIVE billing entity of the tenant for a sale; null when no selectors name it. Of equal ones the oldest. */
export async function entityForSale(uow: ReadUow, sale: Sale): Promise<Id<'bill'> | null> {
  const e = billingEntities
  const rows = await uow.tx
    .select()
    .from(e)
    .where(and(inThisTenant(uow, e), eq(e.status, 'ACTIVE')))
    .orderBy(asc(e.created_at), asc(e.id))
  return chosenEntity(rows, sale)?.id ?? null
}

// The history of the terms by which a customer's events are attributed: a change is for the events after it.

import { isDeepStrictEqual } from 'node:util'
import { and, eq } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { formatInstant, instantOf } from '../../../../shared/time.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { type AttributionTerms, type Customer, customers } from './table.ts'

const ALWAYS = formatInstant(instantOf(0))

/**
 * Saves the terms a customer has now behind those it had. What holds while it is DRAFT holds from the beginning: nothing is
 * billed to a customer that is not ACTIVE.
 */
export async function saveTermsHistory(uow: Uow, row: Customer, previous: Customer | null): Promise<void> {
  const terms = termsAfter(row, previous, formatInstant(uow.now))
  if (isDeepStrictEqual(terms, previous?.attribution_terms ?? null)) return
  await uow.tx
    .update(customers)
    .set({ attribution_terms: terms })
    .where(and(inThisTenant(uow, customers), eq(customers.id, row.id)))
}

function termsAfter(row: Customer, previous: Customer | null, now: string): AttributionTerms[] | null {
  const present = termsOf(row)
  const plain = present.selector === null && present.parent_customer_ids.length === 0
  if (!previous || previous.status === 'DRAFT') return plain ? null : [{ ...present, from: ALWAYS }]
  const before = termsOf(previous)
  if (isDeepStrictEqual(present, before)) return previous.attribution_terms
  const kept = previous.attribution_terms ?? [{ ...before, from: ALWAYS }]
  // Of two changes in one second the later stands.
  return [...kept.filter(({ from }) => from < now), { ...present, from: now }]
}

const termsOf = ({ pricing_plan_subscription_selector: selector, parent_customer_ids }: Customer) => ({
  selector: selector ?? null,
  parent_customer_ids,
})

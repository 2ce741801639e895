// `expand[]` of invoices. An invoice is a document that already contains its parties as they were, so expanding them
// adds nothing. Any other name is refused, as on every resource.
import { AppError } from '../../../shared/errors.ts'

const ALWAYS_THERE = ['customer', 'customer_id', 'billing_entity', 'billing_entity_id', 'ALL']

/** Throws INVALID_FIELD for a name that an invoice cannot expand. */
export function checkExpand(expand: readonly string[]): void {
  const unknown = expand.find(name => !ALWAYS_THERE.includes(name))
  if (unknown === undefined) return
  const message = `INVOICE cannot expand ${JSON.stringify(unknown)}. It shows customer and billing_entity as they were, expanded or not.`
  throw new AppError('INVALID_FIELD', message, { field: 'expand' })
}

// `expand[]` of invoices. An invoice is a document: what it is between stands on it as it was, so to expand it adds nothing. What
// it does not have is refused, as on any other resource.
import { AppError } from '../../../shared/errors.ts'

const ALWAYS_THERE = ['customer', 'customer_id', 'billing_entity', 'billing_entity_id', 'ALL']

/** Throws INVALID_FIELD for what an invoice does not have. */
export function checkExpand(expand: readonly string[]): void {
  const unknown = expand.find(name => !ALWAYS_THERE.includes(name))
  if (unknown === undefined) return
  const message = `INVOICE cannot expand ${JSON.stringify(unknown)}. It shows customer and billing_entity as they were, expanded or not.`
  throw new AppError('INVALID_FIELD', message, { field: 'expand' })
}

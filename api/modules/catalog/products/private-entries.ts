// Entries for one customer (semantics 2: `customer_id`): what names one is for the same customer. It never changes, so what was
// checked once stays true.
import { AppError } from '../../../../shared/errors.ts'

type Entry = { readonly id: string; readonly customer_id: string | null }

/** Throws INVALID_FIELD unless the named entry is for everyone, or for the customer that the row is for. */
export function requireOpenTo(
  customerId: string | null,
  named: Entry,
  { noun, field }: { readonly noun: string; readonly field: string },
): void {
  if (named.customer_id === null || named.customer_id === customerId) return
  const message = `The ${noun} ${named.id} is for the customer ${named.customer_id} alone; choose one that is for everyone.`
  throw new AppError('INVALID_FIELD', message, { field })
}

// By which payment acceptors the invoices of a subscription can be paid.
import { isDeepStrictEqual } from 'node:util'
import type { Uow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import { getOne } from '../../resource/store.ts'
import { paymentAcceptorResource } from '../parties/payment-acceptors/payment-acceptor.ts'
import type { Subscription } from './table.ts'

/** Throws INVALID_FIELD for an acceptor that is not of the billing entity, or is ARCHIVED, and where the billing entity pays itself. */
export async function checkAcceptors(uow: Uow, row: Subscription, previous: Subscription | null): Promise<void> {
  const { payment_acceptor_ids: ids, billing_entity_id: entityId } = row
  if (ids.length === 0) return
  if (isDeepStrictEqual(ids, previous?.payment_acceptor_ids) && entityId === previous?.billing_entity_id) return
  if (row.variant === 'SELF_BILLING')
    throw new AppError('INVALID_FIELD', 'The billing entity pays the customer here; leave them out.', {
      field: 'payment_acceptor_ids',
    })
  for (const [index, id] of ids.entries()) {
    const field = `payment_acceptor_ids.${index}`
    const { billing_entity_id, status } = await getOne(uow, paymentAcceptorResource, id)
    if (billing_entity_id !== entityId)
      throw new AppError('INVALID_FIELD', 'It is of another billing entity than the subscription.', { field })
    if (status === 'ARCHIVED') throw new AppError('INVALID_FIELD', 'It is ARCHIVED; choose another.', { field })
  }
}

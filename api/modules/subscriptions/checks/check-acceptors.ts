// By which payment acceptors the invoices of a subscription can be paid.
import { isDeepStrictEqual } from 'node:util'
import { and, eq, ne } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { AppError } from '../../../../shared/errors.ts'
import { type Id, idOf, idsOf } from '../../../../shared/ids.ts'
import { findOne, getOne } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { billingEntityResource } from '../../parties/billing-entities/billing-entity.ts'
import { paymentAcceptorResource } from '../../parties/payment-acceptors/payment-acceptor.ts'
import { paymentAcceptors } from '../../parties/payment-acceptors/table.ts'
import type { Subscription } from '../table.ts'

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

type Billed = {
  readonly variant: Subscription['variant'] | null
  readonly billing_entity_id: string | null
  readonly billing_entity_reference?: string | null
}

/** Those of the platform's default acceptors by which a new subscription can be paid: of its billing entity, and not ARCHIVED. */
export async function acceptorsByDefault(uow: Uow, ids: readonly string[], of: Billed): Promise<Id<'paya'>[]> {
  if (ids.length === 0 || of.variant === 'SELF_BILLING') return []
  const reference = of.billing_entity_reference
  const entityId =
    of.billing_entity_id ?? (reference ? (await findOne(uow, billingEntityResource, reference))?.id : null)
  if (!entityId) return []
  const p = paymentAcceptors
  const rows = await uow.tx
    .select({ id: p.id })
    .from(p)
    .where(
      and(
        inThisTenant(uow, p),
        anyOf(p.id, idsOf('paya', ids)),
        eq(p.billing_entity_id, idOf('bill', entityId)),
        ne(p.status, 'ARCHIVED'),
      ),
    )
  const found = new Set<string>(rows.map(({ id }) => id))
  return idsOf(
    'paya',
    ids.filter(id => found.has(id)),
  )
}

// By which payment acceptors the invoices of subscriptions can be paid.
import { and, inArray } from 'drizzle-orm'
import { idsOf } from '../../../../shared/ids.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import type { ChosenAcceptors } from '../../invoices/settlement/chosen-acceptors.ts'
import { subscriptions as s } from '../../subscriptions/table.ts'

export const chosenAcceptors: ChosenAcceptors = async (uow, subscriptionIds) => {
  const rows = await uow.tx
    .select({ ids: s.payment_acceptor_ids })
    .from(s)
    .where(and(inThisTenant(uow, s), inArray(s.id, idsOf('ppsu', subscriptionIds))))
  return rows.map(({ ids }) => ids)
}

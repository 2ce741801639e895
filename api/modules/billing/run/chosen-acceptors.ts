// By which payment acceptors the invoices of subscriptions can be paid.
import { and } from 'drizzle-orm'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { idsOf } from '../../../../shared/ids.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import type { ChosenAcceptors } from '../../invoices/settlement/chosen-acceptors.ts'
import { subscriptions as s } from '../../subscriptions/table.ts'

export const chosenAcceptors: ChosenAcceptors = async (uow, subscriptionIds) => {
  const rows = await uow.tx
    .select({ ids: s.payment_acceptor_ids })
    .from(s)
    .where(and(inThisTenant(uow, s), anyOf(s.id, idsOf('ppsu', subscriptionIds))))
  return rows.map(({ ids }) => ids)
}

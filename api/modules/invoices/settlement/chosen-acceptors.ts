// Where subscriptions say by which payment acceptors their invoices can be paid. Invoices know no subscriptions, so whoever does says it.
import type { ReadUow } from '../../../../shared/database/database.ts'
import type { Place } from '../../../resource/rules.ts'

/** Of each subscription the ids of its payment acceptors; an empty list is for all of its billing entity. */
export type ChosenAcceptors = (
  uow: ReadUow,
  subscriptionIds: readonly string[],
) => Promise<readonly (readonly string[])[]>

export const CHOSEN_ACCEPTORS: Place<ChosenAcceptors> = { name: 'chosen payment acceptors' }

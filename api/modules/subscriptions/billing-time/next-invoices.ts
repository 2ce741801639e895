// Where subscriptions learn of their next invoices: the module of billing, which is above this one, registers it here.
import type { Static } from 'typebox'
import type { ReadUow } from '../../../../shared/database/database.ts'
import type { Place } from '../../../resource/rules.ts'
import type { NextInvoice } from '../schema.ts'

/** By subscription: of its invoices that still change, the one that becomes FINAL first. */
export type NextInvoices = (
  uow: ReadUow,
  subscriptionIds: readonly string[],
) => Promise<ReadonlyMap<string, Static<typeof NextInvoice>>>

export const NEXT_INVOICES: Place<NextInvoices> = { name: 'next invoices' }

// What the status of a customer means for others.
import Type, { type Static } from 'typebox'
import { LIFECYCLE_RULES, type StatusRules } from '../../../resource/define-resource.ts'

/** CLOSED: as ARCHIVED it takes nothing new, but it may become ACTIVE again. */
export const CustomerStatus = Type.Enum(['DRAFT', 'ACTIVE', 'DEPRECATED', 'CLOSED', 'ARCHIVED'])
export type CustomerStatus = Static<typeof CustomerStatus>

export const CUSTOMER_STATUS_RULES: StatusRules = {
  ...LIFECYCLE_RULES,
  ACTIVE: ['DRAFT', 'DEPRECATED', 'CLOSED'],
  CLOSED: ['ACTIVE', 'DEPRECATED'],
  ARCHIVED: ['ACTIVE', 'DEPRECATED', 'CLOSED'],
}

/** Why it takes nothing new, no subscription, invoice, wallet or seat: it is CLOSED, ARCHIVED or forgotten; null where it does. */
export const whyGone = (customer: {
  readonly status: string
  readonly forgotten_at?: string | null
}): 'CLOSED' | 'ARCHIVED' | 'forgotten' | null => {
  // One that was forgotten as a DRAFT stays one.
  if ((customer.forgotten_at ?? null) !== null) return 'forgotten'
  return isClosedOrArchived(customer) ? customer.status : null
}

/** Whether its status is one in which it takes nothing new. */
export const isClosedOrArchived = <C extends { readonly status: string }>(
  customer: C,
): customer is C & { readonly status: 'CLOSED' | 'ARCHIVED' } =>
  customer.status === 'CLOSED' || customer.status === 'ARCHIVED'

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

/** Whether it takes nothing new: no subscription, invoice, wallet or seat. */
export const isClosedOrArchived = ({ status }: { readonly status: string }): boolean =>
  status === 'CLOSED' || status === 'ARCHIVED'

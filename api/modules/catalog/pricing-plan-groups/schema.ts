// Wire shapes of pricing plan groups.
import type { Static } from 'typebox'
import { OneOf } from '../../../resource/shapes.ts'

/** What a move to another plan of the group does (contract: Pricing plan group). */
export const PlanChangeType = OneOf('IMMEDIATE', 'IMMEDIATE_PRO_RATA', 'NEXT_BILLING_PERIOD', 'NOT_ALLOWED')
export type PlanChangeType = Static<typeof PlanChangeType>

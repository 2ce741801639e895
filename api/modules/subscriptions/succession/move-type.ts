// When a subscription moves to other prices, and what that does with charges ahead (contract: Change-plan rules). Pure.

export type MoveType = 'IMMEDIATE' | 'IMMEDIATE_PRO_RATA' | 'NEXT_BILLING_PERIOD'

/**
 * Whether what the old prices charged ahead of the move is credited. At the next invoice date only longer prices have charged any, such as
 * a fee of a year in a subscription by the month, and the new prices charge that time again.
 */
export const refundsAdvanceCharges = (type: MoveType): boolean => type !== 'IMMEDIATE'

// What the ACTIVE approval policy says of a schedule. Only what is billed is reviewed: what is made from a template is, when it is activated.
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { judge } from '../../approvals/judge.ts'
import { activePolicy } from '../../approvals/policies/policy.ts'
import type { Facts } from '../../approvals/rules/facts.ts'
import type { ApprovalPolicy } from '../../approvals/table.ts'
import type { Schedule, Subscription } from '../table.ts'
import { factsOf } from './schedule-facts.ts'

export type Reviewed = { readonly schedule: Schedule; readonly subscription: Subscription }

/** The policy that requires an approval of the schedule, and the facts that it does so by. */
export type RequiredApproval = { readonly policy: ApprovalPolicy; readonly facts: Facts }

/** Facts that need no approval, since they are valid already, and what is given off beyond them where that is known. */
export type ValidFacts = { readonly facts: Facts; readonly added?: Facts['discount'] }

/**
 * The approval that a schedule needs; null for none. `before`: what is valid already; null for nothing. Throws INVALID_OPERATION with the
 * reasons where that cannot be determined.
 */
export async function requiredApproval(
  uow: Uow,
  { schedule, subscription }: Reviewed,
  before: () => Promise<ValidFacts | null> = async () => null,
): Promise<RequiredApproval | null> {
  if (subscription.type !== 'BILLING') return null
  const policy = await activePolicy(uow, 'PRICING_PLAN_SCHEDULE')
  if (policy === null) return null
  const facts = await factsOf(uow, schedule, subscription)
  const valid = await before()
  const evaluation = await judge(uow, policy, { before: valid?.facts ?? null, after: facts, added: valid?.added })
  if (evaluation.status !== 'CANNOT_BE_DETERMINED')
    return evaluation.status === 'APPROVAL_REQUIRED' ? { policy, facts } : null
  const message = `It cannot be determined whether the schedule needs an approval by the policy ${policy.reference}. ${evaluation.reasons.join(' ')}`
  throw new AppError('INVALID_OPERATION', message, named(policy))
}

/** Names the policy in a refusal. */
export const named = ({ id }: ApprovalPolicy) => ({ resourceId: id, resourceType: 'APPROVAL_POLICY' })

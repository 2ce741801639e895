// Submitting something for approval: a request to the approvers whom the policy names now.
import type { Uow } from '../../../../shared/database/database.ts'
import { saveNew } from '../../../resource/commands.ts'
import type { Facts } from '../rules/facts.ts'
import type { ApprovalPolicy, ApprovalRequest } from '../table.ts'
import { actingUser } from './acting-user.ts'
import { approvalRequestResource } from './request.ts'

/** Makes the request. The caller holds what is submitted, and marks it as pending review. */
export async function submit(
  uow: Uow,
  policy: ApprovalPolicy,
  { sourceId, facts }: { readonly sourceId: string; readonly facts: Facts },
): Promise<ApprovalRequest> {
  const { approval_groups: groups, type } = policy.approvers
  return await saveNew(uow, approvalRequestResource, {
    source_type: policy.source_type,
    source_id: sourceId,
    status: 'PENDING_REVIEW',
    approval_policy_ids: [policy.id],
    approval_strategy: type ?? 'EVERYONE_HAS_TO_APPROVE',
    owner_id: actingUser(uow.actor) ?? uow.actor.id,
    reviewers: groups.flatMap(({ level, approvers }) =>
      approvers.map(({ user }) => ({
        id: user.id,
        status: 'PENDING_REVIEW' as const,
        reviewed_at: null,
        level: level ?? null,
      })),
    ),
    facts,
  })
}

// Approval requests: what was submitted, to whom, and what they have decided. A decision is final; a request is never deleted.
import { and, eq, type SQL, sql } from 'drizzle-orm'
import Type from 'typebox'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { defineResource, type Resource, readOnly } from '../../../resource/define-resource.ts'
import { IdText, Timestamp } from '../../../resource/shapes.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { approvalPolicyResource } from '../policies/policy.ts'
import { RequestStatus, Reviewer, SourceType, Strategy } from '../schema.ts'
import { type ApprovalRequest, approvalRequests } from '../table.ts'

const r = approvalRequests
const ReviewedBy = Type.String({
  maxLength: 64,
  description: 'Only requests that this user decides on, or has decided on.',
})

export const approvalRequestResource: Resource<ApprovalRequest> = defineResource<ApprovalRequest>({
  objectType: 'APPROVAL_REQUEST',
  shapeName: 'ApprovalRequest',
  idPrefix: 'appr',
  path: 'approval-requests',
  table: r,
  fields: {
    approval_policy_ids: readOnly(Type.Array(IdText('approval policy'))),
    source_type: readOnly(SourceType),
    source_id: readOnly(Type.String()),
    status: readOnly(RequestStatus),
    owner_id: readOnly(Type.String()),
    reviewed_at: readOnly(Timestamp),
    reviewers: readOnly(Type.Array(Reviewer)),
    approval_strategy: readOnly(Strategy),
  },
  operations: ['list', 'get'],
  byReference: false,
  // It happens in the time of the customer of what was submitted.
  testClockOf: 'pricing_plan_schedule_id',
  filters: {
    source_type: { kind: 'equals', column: 'source_type', schema: SourceType },
    source_id: { kind: 'equals', column: 'source_id', schema: IdText('thing that was submitted') },
    // contract: Approvals and quotes, sending both is rejected.
    'source_ids[]': {
      kind: 'oneOf',
      column: 'source_id',
      schema: IdText('thing that was submitted'),
      notWith: 'source_id',
    },
    user_id: { kind: 'related', condition: reviewedBy, schema: ReviewedBy },
    'statuses[]': { kind: 'oneOf', column: 'status', schema: RequestStatus },
  },
  orderBy: ['reviewed_at'],
  expand: { approval_policies: { by: 'approval_policy_ids', to: () => approvalPolicyResource } },
  section: {
    title: 'Approval requests',
    description:
      'An approval request says what was submitted for approval, who decides on it, and what they have decided.',
  },
  fixture: { create: async () => ({}), update: null },
})

/** The requests that one of these users decides on, or has decided on. */
function reviewedBy(_uow: ReadUow, userIds: readonly string[]): SQL {
  return sql.join(
    userIds.map(id => sql`${r.reviewers} @> ${JSON.stringify([{ id }])}::jsonb`),
    sql` or `,
  )
}

/** The pending request of a thing. The database allows one at a time. */
export async function pendingRequest(uow: ReadUow, type: SourceType, id: string): Promise<ApprovalRequest | null> {
  return await latest(uow, and(eq(r.source_type, type), eq(r.source_id, id), eq(r.status, 'PENDING_REVIEW')))
}

/** The request by which a thing was approved last. */
export async function approvedRequest(uow: ReadUow, type: SourceType, id: string): Promise<ApprovalRequest | null> {
  return await latest(uow, and(eq(r.source_type, type), eq(r.source_id, id), eq(r.status, 'APPROVED')))
}

async function latest(uow: ReadUow, condition: SQL | undefined): Promise<ApprovalRequest | null> {
  const [request] = await uow.tx
    .select()
    .from(r)
    .where(and(inThisTenant(uow, r), condition))
    .orderBy(sql`${r.created_at} desc, ${r.id} desc`)
    .limit(1)
  return request ?? null
}

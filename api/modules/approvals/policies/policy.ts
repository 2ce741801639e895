// Approval policies: what users have to approve before it becomes valid, and who they are (semantics 7).
import { isDeepStrictEqual } from 'node:util'
import { and, eq } from 'drizzle-orm'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { defineResource, field, LIFECYCLE_RULES, type Resource } from '../../../resource/define-resource.ts'
import { LifecycleStatus, Name, Reference } from '../../../resource/shapes.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { ApprovalType, Approvers, RuleGroups, SourceType } from '../schema.ts'
import { type ApprovalPolicy, approvalPolicies } from '../table.ts'
import { canonicalRules } from './canonical-rules.ts'
import { checkApprovers } from './check-approvers.ts'

export const approvalPolicyResource: Resource<ApprovalPolicy> = defineResource<ApprovalPolicy>({
  objectType: 'APPROVAL_POLICY',
  shapeName: 'ApprovalPolicy',
  idPrefix: 'appo',
  path: 'approval-policies',
  table: approvalPolicies,
  fields: {
    reference: field(Reference, { create: 'required' }),
    name: field(Name, { create: 'required' }),
    source_type: field(SourceType, { create: 'required', change: 'never' }),
    status: field(LifecycleStatus),
    approval_type: field(ApprovalType, { create: 'required' }),
    approvers: field(Approvers, { create: 'required' }),
    rule_groups: field(RuleGroups, { create: 'required' }),
  },
  operations: ['create', 'list', 'get', 'update', 'delete', 'activate', 'deprecate', 'archive'],
  byReference: true,
  statuses: LIFECYCLE_RULES,
  filters: { source_type: { kind: 'equals', column: 'source_type', schema: SourceType } },
  orderBy: ['reference', 'name'],
  prepare: row => ({ ...row, approvers: withDefaults(row.approvers) }),
  resolve: async (uow, row, previous) =>
    isDeepStrictEqual(row.rule_groups, previous?.rule_groups)
      ? row
      : { ...row, rule_groups: await canonicalRules(uow, row) },
  check: async (uow, row, previous) => {
    const isActivated = row.status === 'ACTIVE' && previous?.status !== 'ACTIVE'
    // Again when it is activated: an approver may have left since.
    if (isActivated || !isDeepStrictEqual(approversOf(row), previous && approversOf(previous)))
      await checkApprovers(uow, row)
    if (isActivated) await requireAlone(uow, row)
  },
  section: {
    title: 'Approval policies',
    description:
      'An approval policy says what users have to approve before it becomes valid, and who they are. One is ACTIVE for each source type.',
  },
  fixture: {
    create: async seed => ({
      reference: seed.unique('large-discounts'),
      name: seed.unique('Large discounts'),
      source_type: 'PRICING_PLAN_SCHEDULE',
      approval_type: 'GROUP',
      approvers: {
        type: 'ANYONE_CAN_DECIDE',
        approval_groups: [{ approvers: [{ type: 'USER', user: { id: await seed.user() } }] }],
      },
      rule_groups: [{ rules: [{ type: 'DISCOUNT', comparator: 'GREATER_THAN', discount: { percentage: '10' } }] }],
    }),
    update: { name: 'Discounts of more than a tenth' },
  },
})

const approversOf = ({ approval_type, approvers }: ApprovalPolicy) => ({ approval_type, approvers })

const withDefaults = ({ type, approval_groups }: Approvers): Approvers => ({
  type: type ?? 'EVERYONE_HAS_TO_APPROVE',
  approval_groups: approval_groups.map(({ level, approvers }) => ({
    level: level ?? null,
    approvers: approvers.map(({ user }) => ({ type: 'USER' as const, user })),
  })),
})

/** The ACTIVE policy of a source type; null where nothing needs an approval. The database allows one at a time. */
export async function activePolicy(uow: ReadUow, sourceType: SourceType): Promise<ApprovalPolicy | null> {
  const p = approvalPolicies
  const where = and(inThisTenant(uow, p), eq(p.source_type, sourceType), eq(p.status, 'ACTIVE'))
  const [policy] = await uow.tx.select().from(p).where(where)
  return policy ?? null
}

/** Throws INVALID_OPERATION while another one is ACTIVE (contract: Approval policy). Of two at once the index refuses the second. */
async function requireAlone(uow: Uow, row: ApprovalPolicy): Promise<void> {
  const other = await activePolicy(uow, row.source_type)
  if (other === null) return
  const message = `The policy ${other.reference} is ACTIVE for ${row.source_type}, and there can be one; deprecate it first: POST /v1/approval-policies/${other.id}/deprecate.`
  throw new AppError('INVALID_OPERATION', message, {
    field: 'status',
    resourceId: other.id,
    resourceType: approvalPolicyResource.objectType,
  })
}

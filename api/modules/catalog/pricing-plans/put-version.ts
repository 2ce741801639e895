// PUT of a version: a plan and a number name it, since versions have no reference.
import { and, desc, eq } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { lockOne, notFound } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { upsertResource } from '../../../resource/upsert/upsert.ts'
import { pricingPlanResource } from './pricing-plan.ts'
import { pricingPlanVersionResource } from './pricing-plan-version.ts'
import type { RateCard } from './schema.ts'
import { type PricingPlanVersion, pricingPlanVersions } from './table.ts'

export type PutVersion = {
  readonly pricing_plan_id: string
  readonly version?: number | null
  readonly status?: PricingPlanVersion['status'] | null
  readonly copied_from_pricing_plan_version_id?: string | null
  readonly rate_card?: RateCard | null
  readonly pricing_currency_settings?: PricingPlanVersion['pricing_currency_settings']
  readonly billing_period_settings?: PricingPlanVersion['billing_period_settings']
}

/**
 * Creates the next version of the plan, or changes one that is DRAFT: the one with this number, or without a number the newest.
 * Says which. A version that is not DRAFT any more is refused with INVALID_OPERATION, except by a body that repeats its status,
 * so that a call may be sent twice. A number beyond the next one is an INVALID_FIELD.
 */
export async function putVersion(uow: Uow, body: PutVersion): Promise<{ row: PricingPlanVersion; created: boolean }> {
  // The lock on the plan queues those who would take the same number.
  const plan = await lockOne(uow, pricingPlanResource, body.pricing_plan_id)
  if (!plan) throw notFound(pricingPlanResource, body.pricing_plan_id, 'pricing_plan_id')
  const versions = await uow.tx
    .select()
    .from(pricingPlanVersions)
    .where(and(inThisTenant(uow, pricingPlanVersions), eq(pricingPlanVersions.pricing_plan_id, plan.id)))
    .orderBy(desc(pricingPlanVersions.version))
    .for('update')
  const [newest] = versions
  const next = (newest?.version ?? 0) + 1
  const number = body.version ?? (newest?.status === 'DRAFT' ? newest.version : next)
  const existing = versions.find(({ version }) => version === number) ?? null
  if (!existing && number !== next) {
    throw new AppError('INVALID_FIELD', `The next version of this plan is ${next}; send that, or leave version out.`, {
      field: 'version',
    })
  }
  if (existing && existing.status !== 'DRAFT' && existing.status !== body.status) throw refusal(existing)
  const { version: _number, ...fields } = body
  // What a PUT leaves out of a version stays: a status cannot be cleared.
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
  return await upsertResource(uow, pricingPlanVersionResource, given, { identifier: { id: existing?.id ?? null } })
}

const refusal = ({ id, version, status }: PricingPlanVersion): AppError =>
  new AppError(
    'INVALID_OPERATION',
    `Version ${version} is ${status}, and only a DRAFT is replaced. Change its status by PATCH, or leave version out for a new one.`,
    { field: 'version', resourceId: id, resourceType: pricingPlanVersionResource.objectType },
  )

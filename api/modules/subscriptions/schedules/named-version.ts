// Which version of a plan a body of a schedule names.
import { and, desc, eq } from 'drizzle-orm'
import type { Static } from 'typebox'
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { findOne, notFound } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { pricingPlanResource } from '../../catalog/pricing-plans/pricing-plan.ts'
import { pricingPlanVersionResource } from '../../catalog/pricing-plans/pricing-plan-version.ts'
import { type PricingPlan, type PricingPlanVersion, pricingPlanVersions } from '../../catalog/pricing-plans/table.ts'
import type { VersionSelector } from '../schema.ts'

const SELECTOR = 'pricing_plan_version_selector'
/** The ways in which a body names a version. */
export type GivenVersion = { readonly [SELECTOR]?: Static<typeof VersionSelector> | null }
export type NamesVersion = GivenVersion & { readonly pricing_plan_version_id?: string | null }

/**
 * The version a body names, by id or by selector; null when it names none. LATEST, the default, is the highest ACTIVE one.
 * Throws INVALID_FIELD, MISSING_FIELD or RESOURCE_NOT_FOUND with the field.
 */
export async function namedVersion(uow: Uow, body: NamesVersion): Promise<PricingPlanVersion | null> {
  const id = body.pricing_plan_version_id ?? null
  const selector = body[SELECTOR] ?? null
  if (selector !== null) {
    if (id === null) return await selectVersion(uow, selector)
    throw new AppError('INVALID_FIELD', `Send pricing_plan_version_id or ${SELECTOR}, not both.`, { field: SELECTOR })
  }
  if (id === null) return null
  const version = await findOne(uow, pricingPlanVersionResource, id)
  if (!version) throw notFound(pricingPlanVersionResource, id, 'pricing_plan_version_id')
  return version
}

async function selectVersion(uow: Uow, selector: Static<typeof VersionSelector>): Promise<PricingPlanVersion> {
  const plan = await selectPlan(uow, selector)
  const wanted = selector.type === 'VERSION' ? selector.version : undefined
  if (wanted !== undefined && plan.variant === 'RATE_CARD') {
    const message = 'A rate card prices by the version in force at each moment; leave type and version out.'
    throw new AppError('INVALID_FIELD', message, { field: `${SELECTOR}.version` })
  }
  if (selector.type === 'VERSION' && wanted === undefined) {
    throw new AppError('MISSING_FIELD', 'A selector of type VERSION needs the version.', {
      field: `${SELECTOR}.version`,
    })
  }
  if (selector.type !== 'VERSION' && selector.version !== undefined) {
    throw new AppError('INVALID_FIELD', 'Only a selector of type VERSION takes a version.', {
      field: `${SELECTOR}.version`,
    })
  }
  const table = pricingPlanVersions
  const [version] = await uow.tx
    .select()
    .from(table)
    .where(
      and(
        inThisTenant(uow, table),
        eq(table.pricing_plan_id, plan.id),
        wanted === undefined ? eq(table.status, 'ACTIVE') : eq(table.version, wanted),
      ),
    )
    .orderBy(desc(table.version))
    .limit(1)
  if (version) return version
  const lacks = wanted === undefined ? 'no ACTIVE version' : `no version ${wanted}`
  throw new AppError('RESOURCE_NOT_FOUND', `The plan ${plan.id} has ${lacks}.`, { field: SELECTOR })
}

async function selectPlan(uow: Uow, selector: Static<typeof VersionSelector>): Promise<PricingPlan> {
  const { pricing_plan_id: id, pricing_plan_reference: reference } = selector
  const name = id === undefined ? 'pricing_plan_reference' : 'pricing_plan_id'
  const given = id ?? reference
  if (given === undefined) {
    const message = 'A selector names the plan by pricing_plan_id or pricing_plan_reference.'
    throw new AppError('MISSING_FIELD', message, { field: `${SELECTOR}.pricing_plan_id` })
  }
  const plan = await findOne(uow, pricingPlanResource, given)
  if (!plan) throw notFound(pricingPlanResource, given, `${SELECTOR}.${name}`)
  if (reference !== undefined && plan.reference !== reference) {
    const message = 'pricing_plan_id and pricing_plan_reference name different plans; send one of them.'
    throw new AppError('INVALID_FIELD', message, { field: `${SELECTOR}.pricing_plan_reference` })
  }
  return plan
}

// Starts the simulation of a stored version, which may be a DRAFT.
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { getOne } from '../../../resource/store.ts'
import { type RevenueLimits, requireLimits } from '../../catalog/as-code/revenue-gate.ts'
import { pricingPlanVersionResource } from '../../catalog/pricing-plans/pricing-plan-version.ts'
import { loadCatalog } from '../terms/load/load-catalog.ts'
import type { Candidate } from './candidate.ts'
import { createSimulation } from './simulations.ts'
import type { Simulation } from './table.ts'

/** What a version sells now. */
export async function readCandidate(
  uow: ReadUow,
  { planId, versionId }: Pick<Candidate, 'planId' | 'versionId'>,
): Promise<Candidate> {
  const named = [{ pricing_plan_id: planId, pricing_plan_version_id: versionId }]
  return { planId, versionId, catalog: (await loadCatalog(uow, named))(named) }
}

/** Throws RESOURCE_NOT_FOUND, and INVALID_OPERATION for a version without prices. */
export async function startSimulation(uow: Uow, versionId: string, limits: RevenueLimits): Promise<Simulation> {
  requireLimits(limits, '')
  const version = await getOne(uow, pricingPlanVersionResource, versionId)
  const candidate = await readCandidate(uow, { planId: version.pricing_plan_id, versionId: version.id })
  if (candidate.catalog.pricings.length === 0) {
    const message = 'The version has no price yet; give it its pricings first.'
    throw new AppError('INVALID_OPERATION', message, { resourceId: version.id, resourceType: 'PRICING_PLAN_VERSION' })
  }
  return await createSimulation(uow, { candidate, limits, file: null })
}

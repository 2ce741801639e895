// What is in a version is fixed once it is not DRAFT any more.
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { lockExisting } from '../../../resource/store.ts'
import { pricingPlanVersionResource } from './pricing-plan-version.ts'

type OfVersion = { readonly pricing_plan_version_id: string; readonly of_schedules?: boolean }

/**
 * Throws INVALID_OPERATION unless the version is DRAFT. The lock lasts until commit, so no activation can slip in between
 * this check and the change it allows; and changes of one version follow each other, since its pricings are judged together.
 */
export async function requireDraftVersion(
  uow: Uow,
  { pricing_plan_version_id: versionId, of_schedules }: OfVersion,
): Promise<void> {
  if (of_schedules) {
    const message = 'It is sold by schedules alone; change it by PATCH of a draft schedule, in its pricing_categories.'
    throw new AppError('INVALID_OPERATION', message)
  }
  const version = await lockExisting(uow, pricingPlanVersionResource, versionId, 'no key update')
  if (version.status === 'DRAFT') return
  const message = `The version is ${version.status} and its pricings never change; make a new version, copied from it.`
  throw new AppError('INVALID_OPERATION', message, { field: 'pricing_plan_version_id' })
}

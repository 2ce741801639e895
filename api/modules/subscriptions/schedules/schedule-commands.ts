// What changes a schedule. Every command first takes the lock of the subscription, so the schedules of one are changed in turn.
import type { Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idOf } from '../../../../shared/ids.ts'
import { createResource, saveChange, updateResource } from '../../../resource/commands.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { getOne, lockOne, notFound } from '../../../resource/store.ts'
import { activatePrices } from '../../catalog/pricing-plans/prices-of-schedules/save-prices.ts'
import { wakeBilling } from '../billing-time/next-billing.ts'
import { requireTakenBack } from '../overrides/check-overrides.ts'
import { givenIn, requireOverrides, withGivenOverrides } from '../overrides/given-overrides.ts'
import { isWithoutPlan } from '../own-prices/show-own-prices.ts'
import { type GivenOwnPrices, withoutPrices } from '../own-prices/take-own-prices.ts'
import { subscriptionResource } from '../subscription.ts'
import type { Schedule, Subscription } from '../table.ts'
import { checkTerms } from './check-terms.ts'
import { type NamesVersion, namedVersion } from './named-version.ts'
import { refusePending } from './pending-review.ts'
import { listSchedules, requireAhead, requireExact, requireOpen, requireWaiting, scheduleResource } from './schedule.ts'
import { requireSellable, versionAtStart } from './schedule-version.ts'

/** A valid body of a schedule. */
export type ScheduleBody = Row &
  NamesVersion &
  GivenOwnPrices & { pricing_plan_subscription_id: string; start_at: string }
/** Which neighbour moves with a boundary, also where it has an end or start of its own; one of the two at most. */
export type Neighbours = { readonly setPreviousEndAt: boolean; readonly setNextStartAt: boolean }

/**
 * Creates a DRAFT schedule. The schedule before it ends where this one starts if it runs on without an end, and with
 * `setPreviousEndAt` also if it has one; with `setNextStartAt` the DRAFT after it starts where this one ends.
 */
export async function createSchedule(uow: Uow, body: ScheduleBody, neighbours: Neighbours): Promise<Schedule> {
  const given = body.pricing_plan_subscription_id
  const subscription = await lockOne(uow, subscriptionResource, given)
  if (!subscription) throw notFound(subscriptionResource, given, 'pricing_plan_subscription_id')
  const version = await namedVersion(uow, body)
  if (!version && !body.pricing_categories?.length) throw withoutPrices()
  requireOverrides(body)
  await makeRoom(uow, subscription, { start_at: body.start_at, end_at: body['end_at'] }, neighbours)
  return await createResource(uow, scheduleResource, {
    ...body,
    pricing_plan_subscription_id: subscription.id,
    ...(version ? { pricing_plan_id: version.pricing_plan_id, pricing_plan_version_id: version.id } : {}),
  })
}

/**
 * Moves the boundary of the neighbour that `neighbours` names to that of a schedule which is about to be created. A schedule before it
 * that runs on without an end is ended there in any case (semantics 4.3).
 */
export async function makeRoom(
  uow: Uow,
  subscription: Subscription,
  { start_at, end_at }: { readonly start_at: string; readonly end_at: unknown },
  neighbours: Neighbours,
): Promise<void> {
  refuseBoth(neighbours)
  await endPrevious(uow, subscription, start_at, { onlyOpen: !neighbours.setPreviousEndAt })
  if (!neighbours.setNextStartAt) return
  const all = await listSchedules(uow, subscription.id)
  await startNext(
    uow,
    subscription,
    all.find(other => other.start_at >= start_at),
    end_at,
  )
}

/** Changes a schedule: a draft freely, an ACTIVE one only in a start and an end that lie ahead and in its clauses. */
export async function updateSchedule(
  uow: Uow,
  id: string,
  patch: Partial<ScheduleBody>,
  neighbours: Neighbours,
): Promise<Schedule> {
  const { schedule, subscription } = await lockSchedule(uow, id)
  const version = await namedVersion(uow, patch)
  const named = version
    ? {
        pricing_plan_id: version.pricing_plan_id,
        pricing_plan_version_id: version.id,
        pricing_plan_version_selector: wholeSelector(patch),
      }
    : withoutVersion(schedule, patch)
  refuseBoth(neighbours)
  if (neighbours.setNextStartAt) {
    const all = await listSchedules(uow, subscription.id)
    const next = all.find(other => other.id !== schedule.id && other.start_at > schedule.start_at)
    await startNext(uow, subscription, next, 'end_at' in patch ? patch['end_at'] : schedule.end_at)
  }
  if (neighbours.setPreviousEndAt && (schedule.status === 'DRAFT' || patch.start_at !== undefined)) {
    await endPrevious(uow, subscription, patch.start_at ?? schedule.start_at, { exceptId: schedule.id })
  }
  const row = await withGivenOverrides(schedule, patch, overrides =>
    updateResource(uow, scheduleResource, id, { ...patch, ...named, ...overrides }),
  )
  await requireTakenBack(uow, row, { given: givenIn(patch) ?? [], stored: schedule.override_pricings })
  if (schedule.status === 'ACTIVE') await wakeBilling(uow, subscription)
  return row
}

/** What is done with a schedule that could become ACTIVE; null: it does. */
export type Instead = (uow: Uow, schedule: Schedule, subscription: Subscription) => Promise<Schedule | null>

/**
 * Activates a DRAFT schedule, unless something else is done `instead`; an ACTIVE one stays as it is. Refused while one before it is DRAFT
 * (contract: States). `isApproved`: by its approval request.
 */
export async function activateSchedule(
  uow: Uow,
  id: string,
  { instead, isApproved = false }: { readonly instead?: Instead; readonly isApproved?: boolean } = {},
): Promise<Schedule> {
  const { schedule, subscription, seen } = await lockSchedule(uow, id)
  if (schedule.status === 'ACTIVE') {
    if (seen.status === 'ACTIVE') return schedule
    const message = 'Another request activated the schedule at the same time. It is ACTIVE; send nothing more.'
    throw new AppError('INVALID_OPERATION', message, {
      field: 'status',
      resourceId: id,
      resourceType: scheduleResource.objectType,
    })
  }
  if (!isApproved) await refusePending(uow, schedule)
  const waiting = (await listSchedules(uow, subscription.id)).find(
    other => other.start_at < schedule.start_at && other.status === 'DRAFT',
  )
  if (waiting) {
    const message = `The schedule ${waiting.id} before it is ${waiting.approval_status === 'PENDING_REVIEW' ? 'pending review' : 'still DRAFT'}; it must become ACTIVE first.`
    throw new AppError('INVALID_OPERATION', message, {
      resourceId: waiting.id,
      resourceType: scheduleResource.objectType,
    })
  }
  await requireActivatable(uow, schedule, subscription)
  const other = await instead?.(uow, schedule, subscription)
  if (other) return other
  const row = await makeActive(uow, schedule, isApproved ? 'APPROVED' : null)
  await wakeBilling(uow, subscription)
  return row
}

/** Where the request says a schedule of the subscription, which has this place in the order of time; null where it does not. */
export type PathOfSchedule = (place: number) => string | null

/**
 * Activates every DRAFT schedule of a subscription in the order of time. Throws INVALID_OPERATION when it has no schedule, and what a schedule
 * is refused for under the path that it has in the request.
 */
export async function activateAllSchedules(
  uow: Uow,
  subscription: Subscription,
  pathOf: PathOfSchedule = () => null,
): Promise<void> {
  const all = await listSchedules(uow, subscription.id)
  if (all.length === 0) {
    const message = 'A subscription needs a schedule before it can be ACTIVE; create one first.'
    throw new AppError('INVALID_OPERATION', message, { field: 'status' })
  }
  for (const [place, schedule] of all.entries()) {
    const path = pathOf(place)
    await activateIn(uow, schedule, subscription).catch(error => {
      if (!(error instanceof AppError)) throw error
      throw path === null ? ofSchedule(error, schedule) : error.within(path)
    })
  }
}

/** The same refusal where the request does not say the schedule: its field is one of that schedule, or else the status that was sent. */
function ofSchedule({ code, message, details }: AppError, { id }: Schedule): AppError {
  const isSaid = details.resourceId === id || details.field === 'status'
  const about = { field: 'status', resourceId: id, resourceType: scheduleResource.objectType, ...details }
  return new AppError(code, isSaid ? message : `The schedule ${id} cannot become ACTIVE. ${message}`, about)
}

/** One that was activated earlier is judged again: what the subscription says may change until it is ACTIVE itself. */
async function activateIn(uow: Uow, schedule: Schedule, subscription: Subscription): Promise<void> {
  requireExact(schedule, subscription)
  await refusePending(uow, schedule)
  if (schedule.status === 'DRAFT') {
    await requireActivatable(uow, schedule, subscription)
    return void (await makeActive(uow, schedule, null))
  }
  await requireSellable(uow, schedule, subscription, true)
  await checkTerms(uow, schedule, schedule)
}

/** What its own prices say is final from here on: they are what is reviewed, or billed. */
async function requireActivatable(uow: Uow, schedule: Schedule, subscription: Subscription): Promise<void> {
  requireOpen(subscription)
  requireExact(schedule, subscription)
  if (schedule.own_pricing_plan_version_id !== null) await activatePrices(uow, schedule.own_pricing_plan_version_id)
  await requireSellable(uow, schedule, subscription, true)
  // Judged again: a version may have changed since the draft was saved.
  await checkTerms(uow, schedule, schedule)
}

async function makeActive(
  uow: Uow,
  schedule: Schedule,
  approval_status: Schedule['approval_status'],
): Promise<Schedule> {
  const pricing_plan_version_id = await versionAtStart(uow, schedule)
  return await saveChange(uow, scheduleResource, schedule, {
    status: 'ACTIVE',
    approval_status,
    pricing_plan_version_id: idOf('ppve', pricing_plan_version_id),
  })
}

/**
 * The status in which a command creates a schedule that it activates at once: a DRAFT cannot stand before an ACTIVE one, not even until
 * it is activated. Pure.
 */
export const statusBefore = (all: readonly Schedule[], start: string): { readonly status?: 'ACTIVE' } =>
  all.some(each => each.status === 'ACTIVE' && each.start_at >= start) ? { status: 'ACTIVE' } : {}

/** The schedule with its subscription, both locked; `seen`: the schedule as it was before that. */
export async function lockSchedule(
  uow: Uow,
  id: string,
): Promise<{ schedule: Schedule; subscription: Subscription; seen: Schedule }> {
  const seen = await getOne(uow, scheduleResource, id)
  const subscription = await lockOne(uow, subscriptionResource, seen.pricing_plan_subscription_id)
  const schedule = await lockOne(uow, scheduleResource, id)
  if (!schedule || !subscription) throw notFound(scheduleResource, id)
  return { schedule, subscription, seen }
}

/** Ends the schedule before `startAt` there, or extends it up to there; with `onlyOpen` one that has an end keeps it. */
async function endPrevious(
  uow: Uow,
  subscription: Subscription,
  startAt: string,
  { exceptId, onlyOpen = false }: { readonly exceptId?: string; readonly onlyOpen?: boolean },
): Promise<void> {
  const all = await listSchedules(uow, subscription.id)
  const previous = all.findLast(other => other.id !== exceptId && other.start_at < startAt)
  if (!previous || previous.end_at === startAt || (onlyOpen && previous.end_at !== null)) return
  requireAhead(uow, subscription, previous, startAt, 'start_at')
  const ended_by_next = previous.ended_by_next || previous.end_at === null
  await saveChange(uow, scheduleResource, previous, { end_at: startAt, ended_by_next }).catch(error => {
    throw error instanceof AppError && error.details.field === 'end_at' ? error.at('start_at') : error
  })
}

function refuseBoth({ setPreviousEndAt, setNextStartAt }: Neighbours): void {
  if (!setPreviousEndAt || !setNextStartAt) return
  const message = 'One call moves one boundary: send set_previous_end_at or set_next_start_at, not both.'
  throw new AppError('INVALID_FIELD', message, { field: 'set_next_start_at' })
}

/** Has the schedule after this one start where this one ends. Throws INVALID_FIELD for one that has begun, or that ends before. */
async function startNext(
  uow: Uow,
  subscription: Subscription,
  next: Schedule | undefined,
  endAt: unknown,
): Promise<void> {
  const field = 'end_at'
  if (typeof endAt !== 'string')
    throw new AppError('INVALID_FIELD', 'set_next_start_at needs an end_at, where the next schedule starts.', { field })
  if (!next || next.start_at === endAt) return
  requireWaiting(uow, subscription, next, endAt, field)
  if (next.end_at !== null && next.end_at <= endAt) {
    const message = `Nothing would be left of the schedule ${next.id}, which ends at ${next.end_at}; delete it first.`
    throw new AppError('INVALID_FIELD', message, { field })
  }
  const moved = { ...next, start_at: endAt }
  await checkTerms(uow, moved, next).catch(error => {
    if (!(error instanceof AppError)) throw error
    const message = `The schedule ${next.id} after it cannot start then: ${error.details.field}: ${error.message}`
    throw new AppError('INVALID_FIELD', message, {
      field,
      resourceId: next.id,
      resourceType: scheduleResource.objectType,
    })
  })
  await saveChange(uow, scheduleResource, next, {
    start_at: endAt,
    // What is ACTIVE keeps its version.
    ...(next.status === 'DRAFT' ? { pricing_plan_version_id: await versionAtStart(uow, moved) } : {}),
  }).catch(error => {
    throw error instanceof AppError && error.details.field === 'start_at' ? error.at(field) : error
  })
}

/** What a patch without a version does: null takes the plan away, and is what a schedule without a plan shows. */
function withoutVersion(schedule: Schedule, { pricing_plan_version_id: id }: NamesVersion): Row {
  if (id !== null) return {}
  return isWithoutPlan(schedule)
    ? { pricing_plan_version_id: schedule.pricing_plan_version_id }
    : { pricing_plan_version_selector: null }
}

/** The selector of a patch, to take the place of the stored one as a whole; null where the version is named by its id. */
const wholeSelector = ({ pricing_plan_version_selector: selector }: NamesVersion): Row | null =>
  selector ? { ...NO_SELECTOR, ...selector } : null
const NO_SELECTOR = { pricing_plan_id: null, pricing_plan_reference: null, type: null, version: null }

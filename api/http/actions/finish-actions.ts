// Actions that were left unfinished, because a process died or a server was away, are finished by the worker. One that fails for a
// day is given up (FAILED), which a metric and an alert report.
import { sql } from 'drizzle-orm'
import { asSystem, type Database, inTenant, SERVICE } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import type { Logger } from '../../../shared/process/logger.ts'
import { defineJob, queueJobs } from '../../jobs/define-job.ts'
import type { WorkerMetrics } from '../../jobs/metrics.ts'
import { type TenantPayload, tenantOf } from '../../jobs/tenant-jobs.ts'
import { type Action, type ActionDeps, complete } from './action.ts'
import { type Intent, takeIntent } from './intents.ts'

type Left = TenantPayload & { readonly id: string; [column: string]: unknown }
export type FinishDeps = ActionDeps & {
  readonly system: Database
  readonly logger: Logger
  readonly metrics: Pick<WorkerMetrics, 'actionsFailed' | 'actionsAge'>
}

const LEFT_MAX = 1_000
/** The row says when it is tried again, so the queue does not try by itself. */
const FINISH = { name: 'finish-action', attemptsMax: 1 }
/** An action that ends the process each time it is tried gets to no fault; past its day it has this many tries, and no more. */
const TRIES_MAX = 50
/** FAILED actions are kept for the operator; reservations that no caller came back to, for as long as answers. */
const FAILED_DAYS = 90
const RESERVED_HOURS = 48

/** Actions that no one works on and whose pause is over, across tenants. Calls without effects outside are their caller's to repeat. */
async function findLeft(system: Database): Promise<Left[]> {
  const { rows } = await asSystem(system, 'find-unfinished-actions', tx =>
    tx.execute<Left>(sql`
      select platform_id, environment, id from action_intents
      where action is not null and failed_at is null and greatest(leased_until, retry_at) <= clock_timestamp()
      order by greatest(leased_until, retry_at) limit ${LEFT_MAX}`),
  )
  return rows
}

async function measure(system: Database, metrics: FinishDeps['metrics']): Promise<void> {
  const { rows } = await asSystem(system, 'find-unfinished-actions', tx =>
    tx.execute<{ failed: number; age: number | null }>(sql`
      select count(*) filter (where failed_at is not null)::int as failed,
        extract(epoch from clock_timestamp() - min(created_at) filter (where failed_at is null))::float8 as age
      from action_intents where action is not null`),
  )
  metrics.actionsFailed.set(rows[0]?.failed ?? 0)
  metrics.actionsAge.set(rows[0]?.age ?? 0)
}

/** The jobs that finish `actions`, which must name every action that a route begins. */
export const actionJobs = <D extends FinishDeps>(actions: readonly Action<D, never>[]) =>
  [
    defineJob<D>({
      name: 'find-unfinished-actions',
      class: 'short',
      every: '* * * * *',
      atStart: true,
      rights: { action_intents: ['select'] },
      run: async ({ system, metrics }) => {
        const left = await findLeft(system)
        await asSystem(system, 'find-unfinished-actions', tx =>
          queueJobs(
            tx,
            FINISH,
            left.map(payload => ({ key: payload.id, payload })),
          ),
        )
        await measure(system, metrics)
      },
    }),
    defineJob<D, Left>({ ...FINISH, class: 'external', rights: {}, run: (deps, left) => finish(deps, actions, left) }),
    defineJob<D>({
      name: 'expire-actions',
      class: 'short',
      every: '17 4 * * *',
      rights: { action_intents: ['select', 'delete'] },
      run: ({ system }) => expire(system),
    }),
  ] as const

async function finish<D extends FinishDeps>(deps: D, actions: readonly Action<D, never>[], left: Left): Promise<void> {
  const tenant = tenantOf(left)
  const intent = await inTenant(deps.database, tenant, SERVICE, uow => takeIntent(uow, left.id))
  // Finished, given up, or in the hands of a caller.
  if (!intent) return
  const about = { action: intent.action, intent: intent.id, attempts: intent.attempts, ...tenant }
  try {
    await complete(deps, tenant, actionOf(actions, intent), intent)
  } catch (error) {
    if (error instanceof AppError && error.status < 500) {
      deps.logger.info({ ...about, code: error.code }, 'an unfinished action was refused')
    } else if (intent.isOverdue) {
      deps.logger.error({ ...about, err: error }, 'an action failed for a day and is given up')
    } else {
      deps.logger.warn({ ...about, err: error }, 'an unfinished action failed; it is tried again later')
    }
  }
}

/** The action of an intent; one that only gives it up where there is none of that name, or it was tried too often. */
function actionOf<D extends FinishDeps>(
  actions: readonly Action<D, never>[],
  { action: name, isOverdue, attempts }: Intent,
): Action<D, never> {
  const action = actions.find(each => each.name === name)
  if (action && !(isOverdue && attempts > TRIES_MAX)) return action
  const fault = action ? `it was tried ${attempts} times` : `no action is called ${name}`
  return { name, status: 200, perform: () => Promise.reject(new Error(fault)) }
}

async function expire(system: Database): Promise<void> {
  await asSystem(system, 'expire-actions', tx =>
    tx.execute(sql`
      delete from action_intents where failed_at < clock_timestamp() - make_interval(days => ${FAILED_DAYS})
        or (action is null and leased_until < clock_timestamp() - make_interval(hours => ${RESERVED_HOURS}))`),
  )
}

// Actions that were left unfinished, because a process died or a server was away, are finished by the worker.
import { sql } from 'drizzle-orm'
import { asSystem, type Database, inTenant } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import type { Logger } from '../../../shared/logger.ts'
import { defineJob, queueJobs } from '../../jobs/define-job.ts'
import { type TenantPayload, tenantOf } from '../../jobs/tenant-jobs.ts'
import { type Action, type ActionDeps, complete } from './action.ts'
import { takeIntent } from './intents.ts'

type Left = TenantPayload & { readonly id: string; [column: string]: unknown }
export type FinishDeps = ActionDeps & { readonly system: Database; readonly logger: Logger }

const LEFT_MAX = 1_000
const SYSTEM = { id: null, requestId: null }
const FINISH = { name: 'finish-action', attemptsMax: 12 }

/** Actions whose lease has ended, across tenants. Calls without effects outside are their caller's to repeat. */
async function findLeft(system: Database): Promise<Left[]> {
  const { rows } = await asSystem(system, 'find-unfinished-actions', tx =>
    tx.execute<Left>(sql`
      select platform_id, environment, id from action_intents
      where action is not null and leased_until <= clock_timestamp() order by leased_until limit ${LEFT_MAX}`),
  )
  return rows
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
      run: async ({ system }) => {
        const left = await findLeft(system)
        await asSystem(system, 'find-unfinished-actions', tx =>
          queueJobs(
            tx,
            FINISH,
            left.map(payload => ({ key: payload.id, payload })),
          ),
        )
      },
    }),
    defineJob<D, Left>({ ...FINISH, class: 'external', rights: {}, run: (deps, left) => finish(deps, actions, left) }),
  ] as const

async function finish<D extends FinishDeps>(deps: D, actions: readonly Action<D, never>[], left: Left): Promise<void> {
  const tenant = tenantOf(left)
  const intent = await inTenant(deps.database, tenant, SYSTEM, uow => takeIntent(uow, left.id))
  // Finished, or in the hands of a caller.
  if (!intent) return
  const action = actions.find(({ name }) => name === intent.action)
  if (!action) throw new Error(`no action is called ${intent.action}`)
  try {
    await complete(deps, tenant, action, intent)
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error
    deps.logger.info({ action: intent.action, code: error.code, ...tenant }, 'an unfinished action was refused')
  }
}

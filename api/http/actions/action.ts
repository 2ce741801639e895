// An action does something that no transaction can undo: it appends to the log, charges a card, sends a mail. `begin` reserves its
// Idempotency-Key and writes what is meant in one transaction; `act` does it, outside any; `settle` stores effects and answer in
// another. One that is left between two of them is taken on by a repeat of the call or by the worker, and ends once: settled,
// refused, or after a day of faults FAILED.
import type { TSchema } from 'typebox'
import { type Actor, type Database, inTenant, type Uow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import type { Failpoints } from '../../../shared/failpoint.ts'
import type { Tenant } from '../../../shared/tenant.ts'
import { serializerCompiler } from '../body/serialization.ts'
import {
  checkReservation,
  findStoredAnswer,
  lockIdempotencyKey,
  type Reservation,
  type StoredAnswer,
  stillRunning,
  storeAnswer,
} from '../idempotency/idempotency.ts'
import {
  failIntent,
  findReserved,
  type Intent,
  insertIntent,
  releaseIntent,
  removeIntent,
  TRIED_HOURS,
  takeIntent,
} from './intents.ts'

type Begun<I> = { readonly id: string; readonly data: I }
type Who = { readonly tenant: Tenant; readonly actor: Actor }

/** An action over dependencies `D`, whose intent is `I` (JSON). Made by `defineAction`. */
export type Action<D, I> = {
  readonly name: string | null
  readonly status: 200 | 201
  /** Acts, and gives what settles it: effects in the database, and the answer's body as it is sent. */
  readonly perform: (deps: D, who: Who, intent: Begun<I>) => Promise<(uow: Uow) => Promise<string>>
}

/** One that a route declares. */
export type DeclaredAction<D, I> = Action<D, I> & { readonly response: TSchema }

/** Declares an action whose act gives `R`. One with a name is listed in its module.ts, so that the worker finds it. */
export const defineAction = <D, I, R>(action: {
  /** Where the worker finds it again; null for a call without effects outside, which only its caller repeats. */
  readonly name: string | null
  readonly status: 200 | 201
  readonly response: TSchema
  /**
   * Does what is meant. May be called again for the same intent after a crash: what it does is done once by `intent.id`, or by its
   * nature. A refusal (AppError below 500) ends the action; anything else leaves it to be taken on again.
   */
  readonly act: (deps: D, who: Who, intent: Begun<I>) => Promise<R>
  /** What follows in the database, and the answer's body. Runs exactly once. */
  readonly settle: (uow: Uow, intent: Begun<I>, result: R) => Promise<unknown>
}): DeclaredAction<D, I> => ({
  name: action.name,
  status: action.status,
  response: action.response,
  perform: async (deps, who, intent) => {
    const result = await action.act(deps, who, intent)
    const write = serializerCompiler({ schema: action.response })
    return async uow => write(await action.settle(uow, intent, result))
  },
})

export type ActionDeps = { readonly database: Database; readonly failpoint?: Failpoints | undefined }

export type Answer = StoredAnswer & { readonly replayed: boolean }

/** Runs an action for its caller, or gives the stored answer of an earlier run with its key. */
export async function runAction<D extends ActionDeps, I>(
  deps: D,
  of: { readonly tenant: Tenant; readonly actor: Actor; readonly reservation: Reservation },
  action: Action<D, I>,
  begin: (uow: Uow) => Promise<I>,
): Promise<Answer> {
  const { tenant, actor, reservation } = of
  const started = await inTenant(deps.database, tenant, actor, uow => reserve(uow, reservation, action.name, begin))
  if ('body' in started) return { ...started, replayed: true }
  await deps.failpoint?.('action.after-begin')
  const answer = await complete(deps, tenant, action, started)
  if (answer) return { ...answer, replayed: false }
  const stored = await inTenant(deps.database, tenant, actor, uow => findStoredAnswer(uow, reservation))
  // Another took longer than the lease to get here, and finished it; without a key its answer is not kept.
  if (!stored) throw stillRunning()
  return { ...stored, replayed: true }
}

async function reserve<I>(
  uow: Uow,
  reservation: Reservation,
  action: string | null,
  begin: (uow: Uow) => Promise<I>,
): Promise<StoredAnswer | Intent> {
  const stored = await findStoredAnswer(uow, reservation)
  if (stored) return stored
  const reserved = reservation.key === null ? null : await findReserved(uow, reservation)
  if (!reserved) return await insertIntent(uow, { action, data: await begin(uow), reservation })
  checkReservation(reservation, reserved.requestHash)
  const taken = reserved.leased ? null : await takeIntent(uow, reserved.id)
  if (!taken) throw stillRunning()
  return taken
}

/** Acts and settles. Null when someone else took the intent on meanwhile: what follows is theirs. */
export async function complete<D extends ActionDeps, I>(
  deps: D,
  tenant: Tenant,
  action: Action<D, I>,
  intent: Intent,
): Promise<StoredAnswer | null> {
  const { actor } = intent
  // The row holds what this action's own `begin` gave.
  const own = { id: intent.id, data: intent.data as I }
  try {
    const settle = await action.perform(deps, { tenant, actor }, own)
    await deps.failpoint?.('action.after-act')
    return await inTenant(deps.database, tenant, actor, async uow => {
      await lockIdempotencyKey(uow, intent.reservation)
      if (!(await removeIntent(uow, intent))) return null
      const answer = { status: action.status, body: await settle(uow) }
      await storeAnswer(uow, intent.reservation, answer)
      await deps.failpoint?.('action.before-settled')
      return answer
    })
  } catch (error) {
    await letGo(deps, tenant, intent, error)
    throw error
  }
}

/**
 * A refusal leaves nothing, so that the caller may correct the request under the same key; after a fault the intent stays, and
 * once it is overdue it is given up.
 */
async function letGo(deps: ActionDeps, tenant: Tenant, intent: Intent, error: unknown): Promise<void> {
  const isRefusal = error instanceof AppError && error.status < 500
  const work = async (uow: Uow): Promise<void> => {
    if (isRefusal || intent.action === null) await removeIntent(uow, intent)
    else if (intent.isOverdue) await fail(uow, intent, error)
    else await releaseIntent(uow, intent)
  }
  // A database that is away lets the lease end by itself; the fault the caller hears of is the first one.
  await inTenant(deps.database, tenant, intent.actor, work).catch(() => undefined)
}

/** Gives an action up for good: its row says FAILED, and a repeat of the call gets the refusal as the answer of its key. */
async function fail(uow: Uow, intent: Intent, error: unknown): Promise<void> {
  const fault = error instanceof AppError ? error.code : 'INTERNAL_ERROR'
  await lockIdempotencyKey(uow, intent.reservation)
  if (!(await failIntent(uow, intent, fault))) return
  const refusal = new AppError(
    'COULD_NOT_UPDATE_RESOURCE',
    `This request could not be completed within ${TRIED_HOURS} hours and is not tried again; the last fault was ${fault}. Part of it may have taken effect: look, then send it with a new Idempotency-Key.`,
  )
  await storeAnswer(uow, intent.reservation, { status: refusal.status, body: JSON.stringify(refusal.toBody()) })
}

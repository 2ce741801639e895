// Ingestion with meter_validation=DYNAMIC. The gateway stays the judge: it is asked first, as with STATIC, so that a call that
// needs nothing new costs nothing more; what it misses is defined in one transaction, and it is asked again.
import { setTimeout as sleep } from 'node:timers/promises'
import { inTenant } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { DynamicIngest, GatewayAnswer, SendToGateway } from '../../../gateway/forward-ingest.ts'
import { type AccessDeps, authenticate } from '../../../http/authenticate.ts'
import { actorOf } from '../../../http/route.ts'
import { defineMissing } from './define-missing.ts'
import { checkEvents, type DynamicBody, readDynamicBody } from './dynamic-body.ts'

/** Another call that makes the same at the same time makes this one start again. */
const ATTEMPTS_MAX = 5
/** A gateway hears of a change within milliseconds; these are the pauses it is given, a little over three seconds. */
const PAUSES_MS = [0, 25, 50, 100, 200, 400, 800, 1_600]
const RETRY_AFTER_S = 2

/** Takes events whose meters may not exist yet. Throws what keeps them from being defined, with its place in the body. */
export const ingestDynamically =
  (deps: AccessDeps): DynamicIngest =>
  async (request, bytes, ask) => {
    const body = readDynamicBody(bytes)
    if (body === null) return await ask(bytes)
    const first = await ask(body.forGateway)
    if (!missesDefinition(first)) return first
    const caller = await authenticate(deps, request, 'METER.CREATE')
    checkEvents(bytes, deps.database.clock.now())
    const actor = actorOf(caller, request, null)
    await untilAlone(() => inTenant(deps.database, caller.tenant, actor, uow => defineMissing(uow, body.mentions)))
    return await askUntilKnown(ask, body)
  }

async function untilAlone(define: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await define()
      return
    } catch (error) {
      const isRace = error instanceof AppError && error.code === 'RESOURCE_ALREADY_EXISTS'
      if (!isRace || attempt >= ATTEMPTS_MAX) throw error
    }
  }
}

async function askUntilKnown(ask: SendToGateway, body: DynamicBody): Promise<GatewayAnswer> {
  for (const pauseMs of PAUSES_MS) {
    await sleep(pauseMs)
    const answer = await ask(body.forGateway)
    if (!missesDefinition(answer)) return answer
  }
  throw new AppError(
    'SERVICE_UNAVAILABLE',
    'What the events need is defined, and not known everywhere yet; send them again.',
    {
      retryAfterSeconds: RETRY_AFTER_S,
    },
  )
}

const MISSING =
  /(?:^|\.)(?:meter_reference|meter_values\.[0-9]+\.reference|meter_properties\.[0-9]+\.(?:reference|value))$/

/** Whether the gateway refused because it lacks a meter, a value, a property or an enum value. */
function missesDefinition({ status, body }: GatewayAnswer): boolean {
  if (status !== 400) return false
  const { code, field }: { code?: string; field?: string } = JSON.parse(body.toString('utf8'))
  return (code === 'RESOURCE_NOT_FOUND' || code === 'INVALID_FIELD') && field !== undefined && MISSING.test(field)
}

// What events will cost, before they are stored (semantics 1.4): for each customer that is billed for one, its invoice with the event
// less the same without. What is read for an event is used again for those of the next second, so that a customer with a million
// events a month costs no more than one with ten.
import { type Database, readTenant } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { createShortMemory } from '../../../../shared/memory/short-memory.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { type Instant, instantOf } from '../../../../shared/time.ts'
import type { EventStore } from '../../../usage/event-store.ts'
import type { EventKey } from '../../../usage/stored-events.ts'
import { loadPredictionState, type Predicted, type PredictionState } from '../../billing/predict/prediction-state.ts'
import type { UsageReader } from '../../billing/usage/usage-reader.ts'
import { type EventFacts, loadFacts } from '../events/trace/load-facts.ts'
import { gatherUsed } from './gather-used.ts'
import type { PredictedEvent } from './read-event.ts'

export type PredictDeps = { readonly database: Database; readonly usage: UsageReader; readonly events: EventStore }

export type Prediction =
  | { readonly response: 'OK'; readonly message: string | null; readonly details: readonly Predicted[] }
  | { readonly response: 'NOT_MATCHED' | 'FAILED'; readonly message: string }

export type Predictor = {
  /**
   * One prediction an event, in their order; each of several is predicted on top of those before it. Never throws for one event. Once
   * a service is unavailable, or PREDICTING_MS have passed, the rest is FAILED without asking: their events wait to be stored.
   */
  predict(tenant: Tenant, events: readonly PredictedEvent[]): Promise<Prediction[]>
  /** Keeps that these were stored, until the usage store says so itself. */
  stored(events: readonly PredictedEvent[]): void
}

const FRESH_MS = 1_000
/** Of the 25 s in which every call is answered, most are left to store the events. */
const PREDICTING_MS = 8_000
const TOO_LONG = 'Predictions take too long; send fewer events at once, or ask again later.'
/** Billing periods begin at a local midnight, and zones differ by quarters of an hour. */
const PIECE_MS = 900_000
/** Within this time the usage store has what was accepted. */
const STORED_MS = 30_000
const NO_TAX_YET = 'The tax engine has not said what tax applies; the amounts are without tax.'

export function createPredictor(deps: PredictDeps): Predictor {
  const { clock } = deps.database
  const facts = createShortMemory<EventFacts>(clock, { ms: FRESH_MS })
  const states = createShortMemory<PredictionState>(clock, { ms: FRESH_MS })
  const used = gatherUsed(deps.events)
  const recent = new Map<string, number>()

  const factsOf = (tenant: Tenant, { key }: PredictedEvent): Promise<EventFacts> => {
    const { customerKey, meterReference, subscription, timestamp } = key
    const [first, last] = pieceOf(timestamp)
    const of = (at: Instant): EventKey => ({ ...key, timestamp: at })
    return facts(textOf(tenant, [customerKey, meterReference, subscription, String(first)]), () =>
      readTenant(deps.database, tenant, uow => loadFacts(uow, [of(first), of(last)])),
    )
  }

  const stateOf = async (tenant: Tenant, subscriptionId: string, at: Instant): Promise<PredictionState> => {
    const load = () => loadPredictionState(deps, tenant, { subscriptionId, at })
    const state = await states(textOf(tenant, [subscriptionId, String(pieceOf(at)[0])]), load)
    return state.covers(at) ? state : await load()
  }

  const isUsed = async (tenant: Tenant, idHash: string): Promise<boolean> => {
    const until = recent.get(idHash)
    return (until !== undefined && until > clock.now()) || (await used(tenant, idHash))
  }

  const predictOne = async (tenant: Tenant, event: PredictedEvent, batch: Batch): Promise<Prediction> => {
    const isDuplicate = batch.seen.has(event.key.idHash) || (await isUsed(tenant, event.key.idHash))
    batch.seen.add(event.key.idHash)
    const known = await factsOf(tenant, event)
    const decision = known.decide(event.key)
    if (decision.type === 'NOT_MATCHED') return { response: 'NOT_MATCHED', message: decision.variant }
    const details: Predicted[] = []
    let lacksTax = false
    for (const { subscriptionId } of known.ratedPlaces(event.key)) {
      const own = batch.states.filter(each => each.subscriptionId === subscriptionId)
      const at = event.usage.timestamp
      const before = own.find(({ state }) => state.covers(at))
      const state = before?.state ?? (await stateOf(tenant, subscriptionId, at))
      if (!state.prices(event.usage)) continue
      lacksTax ||= state.lacksTax
      if (isDuplicate) {
        details.push(state.unchanged())
        continue
      }
      const { predicted, next } = await state.add(event.usage)
      details.push(predicted)
      batch.states = [...batch.states.filter(each => each !== before), { subscriptionId, state: next }]
    }
    if (details.length === 0) return { response: 'NOT_MATCHED', message: 'NO_PRICING' }
    const repeated = `The reference ${JSON.stringify(event.reference)} was sent before, and is counted once.`
    return { response: 'OK', message: isDuplicate ? repeated : lacksTax ? NO_TAX_YET : null, details }
  }

  return {
    predict: async (tenant, events) => {
      const batch: Batch = { seen: new Set(), states: [] }
      const predictions: Prediction[] = []
      const until = performance.now() + PREDICTING_MS
      let unavailable: string | null = null
      for (const event of events) {
        unavailable ??= performance.now() > until ? TOO_LONG : null
        if (unavailable !== null) {
          predictions.push({ response: 'FAILED', message: unavailable })
          continue
        }
        predictions.push(
          await predictOne(tenant, event, batch).catch((error: unknown): Prediction => {
            if (!(error instanceof AppError)) throw error
            if (error.code === 'SERVICE_UNAVAILABLE') unavailable = error.message
            return { response: 'FAILED', message: error.message }
          }),
        )
      }
      return predictions
    },
    stored: events => {
      const now = clock.now()
      for (const [idHash, until] of recent) {
        if (until > now) break
        recent.delete(idHash)
      }
      for (const { key } of events) recent.set(key.idHash, now + STORED_MS)
    },
  }
}

/** The events of one call that were predicted before. */
type Batch = {
  readonly seen: Set<string>
  states: readonly { readonly subscriptionId: string; readonly state: PredictionState }[]
}

const textOf = ({ platformId, environment }: Tenant, parts: readonly string[]): string =>
  JSON.stringify([platformId, environment, ...parts])

/** The first and the last whole second of the piece of time that has it. */
function pieceOf(at: Instant): readonly [Instant, Instant] {
  const first = Math.floor(at / PIECE_MS) * PIECE_MS
  return [instantOf(first), instantOf(first + PIECE_MS - 1_000)]
}

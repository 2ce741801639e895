// Corrects an event without deleting it: its values, and its properties when they are given, are replaced under the same
// reference. The log decides, as with a deletion: of several corrections the last in the log holds, a deleted event stays
// as it was, and what is sent again under the reference stays a duplicate.
import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { type Actor, inTenant, type ReadUow, readTenant } from '../../../../shared/database/database.ts'
import { decimal, plain } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { defineAction } from '../../../http/actions/action.ts'
import type { Measured, StoredAmendment } from '../../../usage/amendments.ts'
import { placeText, type StoredEvent } from '../../../usage/stored-events.ts'
import { answered, awaitEvent, reprocessCustomerOf, retryLater } from './await-event.ts'
import { emitOnce } from './emit-once.ts'
import type { EventsDeps } from './list-events.ts'
import { loadEntries } from './load-entries.ts'
import { type MeterEntries, type PropertyInput, readProperties, readValues, type ValueInput } from './read-measures.ts'
import { EventView as EventShape } from './schema.ts'
import { type EventView, viewEvents } from './view-events.ts'

export type Amendment = {
  readonly meter_values: readonly ValueInput[]
  /** Absent or null: the event keeps those it has. */
  readonly meter_properties?: readonly PropertyInput[] | null
  readonly reason?: string | null
}

/** How long an amendment may take to be processed; less than a request may take. */
const PROCESSED_MS = 10_000

/**
 * Amends the event with this id or reference and gives its view, once that has taken effect. An amendment that says what the
 * event says already changes nothing, so it is safe to send again. Throws RESOURCE_NOT_FOUND, COULD_NOT_UPDATE_RESOURCE for
 * a deleted event, INVALID_FIELD and MISSING_FIELD by the rules of its meter, SERVICE_UNAVAILABLE while it cannot be known.
 */
export async function amendEvent(
  deps: EventsDeps,
  context: { readonly tenant: Tenant; readonly actor: Actor },
  of: { readonly idOrReference: string; readonly amendment: Amendment },
): Promise<EventView> {
  const { tenant } = context
  const { event, history } = await readState(deps, tenant, of.idOrReference)
  if (event.deleted) throw isDeleted(event)
  const meter = await readTenant(deps.database, tenant, uow => entriesOf(uow, event.meterReference))
  const { meter_values, meter_properties } = of.amendment
  const values = readValues(meter_values, meter)
  const properties = meter_properties ? readProperties(meter_properties, meter) : null
  const asked = { values, properties: properties ?? event.properties }
  if (isSame(asked, event)) return await settled(deps, tenant, { event, amendment: history.findLast(isApplied) })
  return await publishAndAwait(deps, context, { event, values, properties, history, reason: of.amendment.reason ?? '' })
}

/** An amendment as an action: once begun it takes effect once, also when the process dies after the log has it. */
export const amendEventAction = defineAction<
  EventsDeps,
  { readonly idOrReference: string; readonly amendment: Amendment },
  EventView
>({
  name: 'amend-event',
  status: 200,
  response: EventShape,
  act: (deps, context, { data }) => amendEvent(deps, context, data),
  settle: (_uow, _intent, view) => Promise.resolve(view),
})

/** Reads of an event whose history is ahead of it, and the pause between them: what comes between is one insert. */
const READS_MAX = 20
const READ_PAUSE_MS = 100

/**
 * The event and the amendments that made it what it is. The history of an amendment is stored before the row it makes, so
 * an event that is behind its history is about to change: judged by what it was, the same correction would count as another.
 */
async function readState(
  deps: EventsDeps,
  tenant: Tenant,
  idOrReference: string,
): Promise<{ event: StoredEvent; history: readonly StoredAmendment[] }> {
  for (let read = 1; read <= READS_MAX; read += 1) {
    const event = await awaitEvent(deps, tenant, idOrReference)
    const history = await deps.events.amendments(tenant, event.idHash)
    const last = history.findLast(isApplied)
    if (event.deleted || last === undefined || isSame(last.after, event)) return { event, history }
    await sleep(READ_PAUSE_MS)
  }
  throw retryLater('Another correction of this event is being processed; send it again.')
}

const isApplied = ({ applied }: StoredAmendment): boolean => applied

const isDeleted = ({ reference }: StoredEvent): AppError =>
  new AppError(
    'COULD_NOT_UPDATE_RESOURCE',
    `The event ${JSON.stringify(reference)} is deleted, and what is deleted is not corrected; send a new event under another reference.`,
    { resourceType: 'METER_DATA' },
  )

/** Whatever its status: a meter that takes no more events still says what its events may carry. */
async function entriesOf(uow: ReadUow, reference: string): Promise<MeterEntries> {
  const found = await loadEntries(uow, reference)
  if (found) return found.entries
  throw new AppError('INVALID_OPERATION', `There is no meter ${JSON.stringify(reference)} any more.`)
}

/** Whether both say the same, whatever the order of the values. */
function isSame(a: Measured, b: Measured): boolean {
  const byReference = ({ values, properties }: Measured) => [
    Object.fromEntries(
      values.map(({ reference, quantity, currency }) => [reference, [plain(decimal(quantity)), currency]]),
    ),
    { ...properties },
  ]
  return isDeepStrictEqual(byReference(a), byReference(b))
}

type Change = {
  readonly event: StoredEvent
  readonly values: Measured['values']
  readonly properties: Measured['properties'] | null
  /** The amendments before this one. */
  readonly history: readonly StoredAmendment[]
  readonly reason: string
}

async function publishAndAwait(
  deps: EventsDeps,
  { tenant, actor }: { readonly tenant: Tenant; readonly actor: Actor },
  { event, values, properties, history, reason }: Change,
): Promise<EventView> {
  const { idHash } = event
  const record = {
    ...tenant,
    idHash,
    receivedAtMs: deps.database.clock.now(),
    valueReferences: values.map(({ reference }) => reference),
    valueQuantities: values.map(({ quantity }) => quantity),
    valueCurrencies: values.map(({ currency }) => currency),
    properties,
    actorId: actor.id ?? '',
    requestId: actor.requestId ?? '',
    reason,
  }
  // The same correction of the same state is one, so a call that is sent again before it was processed adds nothing.
  const last = history.at(-1)
  const key = hash('sha256', JSON.stringify([last ? placeText(last.place) : '', values, properties]), 'hex')
  const position = await answered(deps.events.log.publishAmendment(record, key))
  if (await deps.events.processed(position, PROCESSED_MS)) {
    const amendments = await deps.events.amendments(tenant, idHash)
    const amendment = amendments.find(
      ({ place }) => place.seq === position.seq && place.partition === position.partition,
    )
    if (amendment && !amendment.applied) throw isDeleted(event)
    const amended = await deps.events.find(tenant, idHash)
    if (amendment && amended) return await settled(deps, tenant, { event: amended, amendment })
  }
  throw retryLater('The correction is accepted and not processed yet; send it again to hear when it is.')
}

/** The view of the event, and the notice of the amendment where an earlier call ended before it. */
async function settled(
  deps: EventsDeps,
  tenant: Tenant,
  of: { readonly event: StoredEvent; readonly amendment: StoredAmendment | undefined },
): Promise<EventView> {
  const { event, amendment } = of
  const actor: Actor = { id: amendment?.actorId || null, requestId: amendment?.requestId || null }
  return await inTenant(deps.database, tenant, actor, async uow => {
    const [view, data, previous] = await viewEvents(
      uow,
      amendment ? [event, { ...event, ...amendment.after }, { ...event, ...amendment.before }] : [event],
    )
    if (!view) throw new Error('one event has one view')
    const notice = data && previous ? { type: 'METER_DATA.UPDATED' as const, objectId: view.id, data, previous } : null
    if (notice && (await emitOnce(uow, notice, true))) await reprocessCustomerOf(uow, view, event)
    return view
  })
}

// Who sends: clients that repeat a request until it is answered 201, and what happens to events afterwards.
import { createEventLog } from '../../../api/usage/event-log.ts'
import { Lines } from '../../../ingest/events/lines.ts'
import { encodeEvent, eventHash } from '../../../shared/contracts/usage-event.ts'
import { type Gateway, PARTITIONS, type System } from './system.ts'
import type { Life } from './world.ts'

const PLATFORM = 'plat_1'
const REFERENCES = 24
const HOURS = 5
const START_MS = Date.UTC(2026, 0, 15)
/** A client that hears nothing for so long sends again. */
const PATIENCE_MS = 6_000

export type Client = { readonly life: Life; left: number; busy: boolean }
/** What a client sends of a reference: other contents have other times, customers and values. */
type Sent = { readonly reference: number; readonly content: number }

export type Senders = {
  readonly clients: readonly Client[]
  /** Deletions and amendments without an answer yet. */
  open: number
}

export function createSenders(system: System): Senders {
  const { world } = system
  const immortal = (name: string) => world.newLife(name, Number.POSITIVE_INFINITY, () => undefined)
  return {
    clients: Array.from({ length: world.random.between(1, 4) }, (_, index) => ({
      life: immortal(`client-${index}`),
      left: 0,
      busy: false,
    })),
    open: 0,
  }
}

/** Gives every client so many more requests to send. */
export function sendMore(system: System, senders: Senders, requests: number): void {
  for (const client of senders.clients) {
    client.left = requests
    client.busy = true
    next(system, senders, client)
  }
}

function next(system: System, senders: Senders, client: Client): void {
  const { world } = system
  if (client.left === 0) {
    client.busy = false
    return
  }
  client.left -= 1
  const events = Array.from({ length: world.random.between(1, 5) }, () => ({
    reference: world.random.below(REFERENCES),
    content: world.chance(4) ? world.random.below(3) : 0,
  }))
  world.deliver(client.life, world.random.below(2_000), () => request(system, senders, { client, events }))
}

type Request = { readonly client: Client; readonly events: readonly Sent[] }

/** One try at a gateway; the next follows when it is refused, cut off or not answered in time. */
function request(system: System, senders: Senders, of: Request): void {
  const { world, gateways } = system
  const { client, events } = of
  const gateway = world.random.pick(gateways)
  let answered = false
  const answer = (isAcked: boolean) => {
    if (world.chance(world.weather.lost)) return
    world.deliver(client.life, world.random.below(world.weather.slowMs), () => {
      if (answered) return
      answered = true
      if (!isAcked) return world.deliver(client.life, world.random.below(1_500), () => request(system, senders, of))
      for (const event of events) told(system, senders, event)
      next(system, senders, client)
    })
  }
  world.deliver(gateway.life, world.random.below(world.weather.slowMs), () => offer(system, gateway, events, answer))
  world.deliver(client.life, PATIENCE_MS, () => {
    if (answered) return
    answered = true
    request(system, senders, of)
  })
}

/** What the handler of the gateway does once a request is read. */
function offer(
  system: System,
  { publisher }: Gateway,
  sent: readonly Sent[],
  answer: (isAcked: boolean) => void,
): void {
  if (publisher === null) return
  const events = sent.map(each => lineOf(system, each))
  for (const { idHash, contentHash } of events) system.ledger.sent.add(`${idHash} ${contentHash}`)
  if (system.sabotage.answersAtFirstAck) {
    let first = true
    for (const event of events) {
      publisher.offer(linesOf([event]), outcome => {
        if (first) answer(outcome === 'acked')
        first = false
      })
    }
    return
  }
  const taken = publisher.offer(linesOf(events), outcome => answer(outcome === 'acked'))
  if (taken === 'full') answer(false)
}

type Line = { readonly idHash: string; readonly contentHash: string; readonly line: string }

function linesOf(events: readonly Line[]): Lines {
  const lines = new Lines(PARTITIONS)
  for (const { line, idHash, contentHash } of events) lines.add(line, idHash, contentHash)
  return lines
}

const hashOf = (reference: number): string => eventHash(PLATFORM, 'LIVE', `r${reference}`)

function lineOf({ clock }: System, { reference, content }: Sent): Line {
  const idHash = hashOf(reference)
  const hour = (reference + content) % HOURS
  const { line, contentHash } = encodeEvent({
    idHash,
    platformId: PLATFORM,
    environment: 'LIVE',
    reference: `r${reference}`,
    customerKey: `c${content % 2}`,
    meterReference: `requests-${reference % 3}`,
    timestampMs: START_MS + hour * 3_600_000 + reference,
    receivedAtMs: clock.now(),
    valueReferences: ['tokens'],
    valueQuantities: [String(1 + content)],
    valueCurrencies: [''],
    properties: content === 0 ? {} : { model: `m${content}` },
    subscription: '',
  })
  return { idHash, contentHash, line }
}

/** The client was told 201; perhaps it is sorry, and corrects or deletes the event. */
function told(system: System, senders: Senders, event: Sent): void {
  const { world, ledger, clock } = system
  const { idHash, contentHash } = lineOf(system, event)
  ledger.acked.add(`${idHash} ${contentHash}`)
  const kind = world.random.below(10)
  if (kind > 2) return
  const life = world.newLife('api', Number.POSITIVE_INFINITY, () => undefined)
  const tenant = { idHash, platformId: PLATFORM, environment: 'LIVE', receivedAtMs: clock.now() } as const
  senders.open += 1
  world.deliver(life, world.random.below(3_000), () => {
    const { js, jsm } = system.connection(life)
    const log = createEventLog({ js, jsm, partitions: PARTITIONS })
    const published =
      kind === 0
        ? log.publishDeletion(tenant)
        : log.publishAmendment({ ...tenant, ...correction(world.random.below(90)) }, `${world.steps}`)
    published
      .then(
        () => void (kind === 0 && ledger.deleted.add(idHash)),
        () => undefined, // Nobody knows; whoever asked may ask again, and did not.
      )
      .finally(() => {
        senders.open -= 1
      })
  })
}

const correction = (value: number) => ({
  valueReferences: ['tokens'],
  valueQuantities: [String(10 + value)],
  valueCurrencies: [''],
  properties: value % 2 === 0 ? null : { model: 'corrected' },
  actorId: 'apik_1',
  requestId: 'reqr_1',
  reason: '',
})

// The broker as far as it matters: partitions that are totally ordered, a window in which a message id is stored once,
// requests and acks that get lost or come late, readers that are cut off and begin again.
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { streamName, streamSubject } from '../../../shared/contracts/streams.ts'
import { InjectedFault, type Life, type World } from './world.ts'

export type StoredMessage = { readonly seq: number; readonly timeMs: number; readonly body: string }
type Stream = {
  readonly messages: StoredMessage[]
  readonly known: Map<string, { readonly seq: number; readonly atMs: number }>
  /** Wake readers that wait for the next message. */
  readonly waiting: Set<() => void>
  config: Record<string, unknown>
}
export type Broker = {
  readonly streams: readonly Stream[]
  messages(partition: number): readonly StoredMessage[]
  /** Stores a body once more, as an operator who replays the log would. */
  append(partition: number, body: string): number
  /** Down until then: nothing is taken, every reader is cut off. */
  downUntil: number
  connectionOf(life: Life): SimulatedConnection
}
export type SimulatedConnection = NatsConnection & { readonly js: JetStreamClient; readonly jsm: JetStreamManager }

const EPOCH_MS = Date.UTC(2026, 0, 15)
const CREATED = 'monday'

export function createBroker(world: World, partitions: number): Broker {
  // Short in some runs, so that what comes late is stored a second time.
  const windowMs = world.random.pick([500, 5_000, 120_000])
  const streams: Stream[] = Array.from({ length: partitions }, () => ({
    messages: [],
    known: new Map(),
    waiting: new Set(),
    config: {},
  }))
  const broker: Broker = {
    streams,
    downUntil: 0,
    messages: partition => streamAt(partition).messages,
    append(partition, body) {
      const stream = streamAt(partition)
      const seq = stream.messages.length + 1
      stream.messages.push({ seq, timeMs: EPOCH_MS + world.nowMs, body })
      for (const wake of [...stream.waiting]) wake()
      stream.waiting.clear()
      return seq
    },
    connectionOf: life => connectionOf(world, broker, life, (partition, body, id) => store(partition, body, id)),
  }

  function streamAt(partition: number): Stream {
    const stream = streams[partition]
    if (stream === undefined) throw new RangeError(`no partition ${partition}`)
    return stream
  }

  /** The sequence of the message; null when the broker is down. */
  function store(partition: number, body: string, id: string | null): number | null {
    if (broker.downUntil > world.nowMs) return null
    const { known } = streamAt(partition)
    const before = id === null ? undefined : known.get(id)
    if (before && world.nowMs - before.atMs < windowMs) return before.seq
    const seq = broker.append(partition, body)
    if (id !== null) known.set(id, { seq, atMs: world.nowMs })
    return seq
  }
  return broker
}

type Store = (partition: number, body: string, id: string | null) => number | null
/** What of an answer to a message is looked at. */
type Reply = { readonly subject: string; readonly data: { readonly length: number }; json(): object }

/** What a process sees of the broker: the parts of the NATS client it uses. */
function connectionOf(world: World, broker: Broker, life: Life, store: Store): SimulatedConnection {
  const partitionOfName = new Map(broker.streams.map((_, partition) => [streamName(partition), partition]))
  const partitionOfSubject = new Map(broker.streams.map((_, partition) => [streamSubject(partition), partition]))
  const named = (name: string): number => partitionOfName.get(name) ?? Number.NaN
  const infoOf = (partition: number) => ({
    config: { name: streamName(partition), ...broker.streams[partition]?.config },
    created: CREATED,
    state: { first_seq: 1, last_seq: broker.messages(partition).length },
  })
  const ask = async <T>(answer: () => T): Promise<T> => {
    await world.pass(life)
    if (broker.downUntil > world.nowMs || world.chance(world.weather.lost)) throw new InjectedFault('no broker')
    return answer()
  }
  const js = {
    publish(
      subject: string,
      payload: Uint8Array | string,
      options: { msgID: string; timeout: number; retries: number },
    ) {
      const partition = partitionOfSubject.get(subject) ?? Number.NaN
      return publish({ world, life, store, partition, payload, id: options.msgID }, options)
    },
    consumers: {
      get: (name: string, { opt_start_seq }: { opt_start_seq: number }) =>
        ask(() => ({ consume: async () => consume(world, broker, life, named(name), opt_start_seq) })),
    },
  }
  const jsm = {
    streams: {
      list: async function* () {
        await ask(() => undefined)
        for (const [partition, { config }] of broker.streams.entries())
          if ('subjects' in config) yield infoOf(partition)
      },
      add: (config: { name: string }) => ask(() => configure(named(config.name), config)),
      update: (name: string, config: object) => ask(() => configure(named(name), config)),
      info: (name: string) => ask(() => infoOf(named(name))),
    },
  }
  const configure = (partition: number, config: object) => {
    const stream = broker.streams[partition]
    if (stream) stream.config = { ...config }
  }
  let onReply: (error: null, reply: Reply) => void = () => undefined
  const nats = {
    js,
    jsm,
    status: () => silence(),
    isClosed: () => false,
    close: async () => undefined,
    // One inbox, and messages that ask for an ack there. Nothing counts by what gateways ask of an aggregator, so no question comes.
    subscribe: (subject: string, { callback }: { callback: typeof onReply }) => {
      if (!subject.startsWith('first-seen.')) onReply = callback
      return { unsubscribe: () => undefined }
    },
    protocol: {
      sendCommand: (frame: Uint8Array) => {
        const { subject, reply, stream, payload } = readFrame(frame)
        const partition = partitionOfSubject.get(subject) ?? Number.NaN
        if (stream !== streamName(partition)) throw new Error(`${subject} is not of ${stream}`)
        send({ world, life, store, partition, payload, id: null }, seq => {
          onReply(null, { subject: reply, data: { length: 1 }, json: () => ({ stream: streamName(partition), seq }) })
        })
      },
    },
  }
  return nats as unknown as SimulatedConnection
}

const HEADERS = /^NATS\/1\.0\r\nNats-Expected-Stream: (\S+)\r\n\r\n$/

/** A message as the broker's protocol has it. Throws when its lengths are not true. */
function readFrame(frame: Uint8Array): { subject: string; reply: string; stream: string; payload: Uint8Array } {
  const bytes = Buffer.from(frame.buffer, frame.byteOffset, frame.length)
  const end = bytes.indexOf('\r\n')
  const [verb, subject = '', reply = '', headers, size] = bytes.toString('latin1', 0, end).split(' ')
  const [start, from, to] = [end + 2, end + 2 + Number(headers), end + 2 + Number(size)]
  const stream = HEADERS.exec(bytes.toString('latin1', start, from))?.[1]
  if (verb !== 'HPUB' || stream === undefined || bytes.toString('latin1', to) !== '\r\n') {
    throw new Error(`the broker cannot read ${bytes.toString('latin1', 0, 200)}`)
  }
  return { subject, reply, stream, payload: bytes.subarray(from, to) }
}

async function* silence(): AsyncGenerator<never> {
  await new Promise(() => undefined)
}

type Sent = {
  readonly world: World
  readonly life: Life
  readonly store: Store
  readonly partition: number
  readonly payload: Uint8Array | string
  readonly id: string | null
}

/** A message on its way, and its ack on the way back. Either may be lost, or come late. */
function send({ world, life, store, partition, payload, id }: Sent, onAck: (seq: number) => void): void {
  const { random, weather } = world
  if (world.chance(weather.lost)) return
  const isLate = world.chance(weather.late)
  if (isLate) world.lateEffects += 1
  world.later(isLate ? random.between(1_000, 20_000) : random.below(weather.slowMs), () => {
    if (isLate) world.lateEffects -= 1
    // Read when it arrives, since it is sent from where it lies: a sender that fills the bytes anew before the ack is found.
    const seq = store(partition, Buffer.from(payload).toString('utf8'), id)
    if (seq === null || (!isLate && world.chance(world.weather.unanswered))) return
    world.deliver(life, world.random.below(world.weather.slowMs), () => onAck(seq))
  })
}

/** As the client does: sent again under the same id when no ack came in time. Each copy that was sent may arrive at any time. */
function publish(of: Sent, { timeout, retries }: { timeout: number; retries: number }): Promise<{ seq: number }> {
  const { world, life } = of
  return new Promise((resolve, reject) => {
    let triesLeft = retries
    attempt()

    function attempt(): void {
      send(of, seq => {
        triesLeft = 0
        resolve({ seq })
      })
      world.deliver(life, timeout, () => {
        if (triesLeft === 0) return reject(new InjectedFault('no ack'))
        triesLeft -= 1
        attempt()
      })
    }
  })
}

/** Delivers in order from a sequence on; is cut off now and then, and then delivers something a second time first. */
function consume(world: World, broker: Broker, life: Life, partition: number, from: number) {
  const stream = broker.streams[partition]
  let stopped = false
  let wake: () => void = () => undefined
  const more = () =>
    new Promise<void>(resolve => {
      wake = () => world.deliver(life, world.random.below(world.weather.slowMs), resolve)
      stream?.waiting.add(wake)
    })
  async function* messages() {
    let next = from
    while (!stopped) {
      const waiting = broker.messages(partition).slice(next - 1)
      if (waiting.length === 0) {
        await more()
        continue
      }
      await world.pass(life)
      for (const message of waiting) {
        if (stopped) return
        if (broker.downUntil > world.nowMs || world.chance(world.weather.lost)) throw new InjectedFault('cut off')
        yield messageOf(message)
        const again = broker.messages(partition)[message.seq - 1 - world.random.below(3)]
        if (again && world.chance(world.weather.lost)) yield messageOf(again)
        next = message.seq + 1
      }
    }
  }
  const stop = () => {
    stopped = true
    wake()
  }
  return { [Symbol.asyncIterator]: messages, stop, close: async () => stop() }
}

const messageOf = ({ seq, timeMs, body }: StoredMessage) => ({
  seq,
  time: new Date(timeMs),
  data: { length: body.length },
  string: () => body,
})

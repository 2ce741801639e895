// The usage log as JetStream's own snapshots, which `nats stream backup` makes too: messages, their positions and the stream's
// settings. (NATS: ADR of the JetStream API, STREAM.SNAPSHOT and STREAM.RESTORE.)
import { once } from 'node:events'
import { closeSync, createWriteStream, mkdirSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect, createInbox, type NatsConnection } from '@nats-io/transport-node'
import { brokerAddress } from '../../shared/log/address.ts'

const USAGE_STREAM = /^USAGE_[0-9]+$/
const CHUNK_BYTES = 128 * 1024
const ANSWER_TIMEOUT_MS = 30_000
/** What describes a snapshot, beside its data. */
const ABOUT = '.json'
const DATA = '.snapshot'

type Answer = {
  readonly error?: { readonly description?: string }
  readonly deliver_subject?: string
  readonly config?: unknown
  readonly state?: unknown
}

async function withBroker<T>(url: string, work: (nats: NatsConnection) => Promise<T>): Promise<T> {
  const nats = await connect({ ...brokerAddress(url), name: 'millrace-backup' })
  try {
    return await work(nats)
  } finally {
    await nats.close()
  }
}

async function ask(nats: NatsConnection, subject: string, body: string | Uint8Array): Promise<Answer> {
  const message = await nats.request(subject, body, { timeout: ANSWER_TIMEOUT_MS })
  const answer: Answer = message.data.length === 0 ? {} : message.json<Answer>()
  if (answer.error) throw new Error(`NATS refuses ${subject}: ${answer.error.description ?? 'no reason'}`)
  return answer
}

/** Writes what the broker sends until it says that it is the end. */
async function receive(nats: NatsConnection, stream: string, folder: string): Promise<Answer> {
  const inbox = createInbox()
  const messages = nats.subscribe(inbox)
  const file = createWriteStream(join(folder, `${stream}${DATA}`), { mode: 0o600 })
  const wanted = { deliver_subject: inbox, no_consumers: true, chunk_size: CHUNK_BYTES }
  const about = await ask(nats, `$JS.API.STREAM.SNAPSHOT.${stream}`, JSON.stringify(wanted))
  for await (const message of messages) {
    if (message.data.length === 0) {
      // 204 is the end; anything else the reason why it ends early.
      const status = message.headers?.status ?? ''
      if (status !== '' && !status.startsWith('204')) throw new Error(`NATS ended the snapshot of ${stream}: ${status}`)
      break
    }
    if (!file.write(message.data)) await once(file, 'drain')
    message.respond()
  }
  file.end()
  await finished(file)
  return about
}

async function* usageStreams(nats: NatsConnection): AsyncGenerator<string> {
  const jsm = await jetstreamManager(nats)
  for await (const { config } of jsm.streams.list()) if (USAGE_STREAM.test(config.name)) yield config.name
}

/** The streams of the usage log that the broker has. */
export const presentStreams = (url: string): Promise<string[]> =>
  withBroker(url, async nats => {
    const names: string[] = []
    for await (const name of usageStreams(nats)) names.push(name)
    return names
  })

/** Writes a snapshot of every stream of the usage log to `folder`, while they are written. Resolves with their names. */
export function backUpStreams(url: string, folder: string): Promise<string[]> {
  mkdirSync(folder, { mode: 0o700 })
  return withBroker(url, async nats => {
    const names: string[] = []
    for await (const name of usageStreams(nats)) {
      const about = await receive(nats, name, folder)
      writeFileSync(join(folder, `${name}${ABOUT}`), JSON.stringify(about), { mode: 0o600 })
      names.push(name)
    }
    return names
  })
}

async function send(nats: NatsConnection, stream: string, folder: string): Promise<void> {
  const { config, state }: Answer = JSON.parse(readFileSync(join(folder, `${stream}${ABOUT}`), 'utf8'))
  const subject = `$JS.API.STREAM.RESTORE.${stream}`
  const { deliver_subject } = await ask(nats, subject, JSON.stringify({ config, state }))
  if (deliver_subject === undefined) throw new Error(`NATS does not say where to send the snapshot of ${stream}`)
  const file = openSync(join(folder, `${stream}${DATA}`), 'r')
  try {
    for (;;) {
      const chunk = Buffer.alloc(CHUNK_BYTES)
      const bytes = readSync(file, chunk)
      // An empty message ends it, and is answered once the stream is whole.
      await ask(nats, deliver_subject, chunk.subarray(0, bytes))
      if (bytes === 0) return
    }
  } finally {
    closeSync(file)
  }
}

/** Brings these streams of `folder` to a broker that has none of them: same messages at the same positions. Throws when one is missing. */
export function restoreStreams(url: string, folder: string, streams: readonly string[]): Promise<void> {
  return withBroker(url, async nats => {
    for (const stream of streams) await send(nats, stream, folder)
  })
}

// What an acknowledgement of the usage log means: on how many servers a message is before it is acknowledged, and whether
// each of them has synced it to its disk by then (security 6.1).
import type { JetStreamManager, PeerInfo, StreamInfo } from '@nats-io/jetstream'
import { nanos } from '@nats-io/transport-node'
import { streamName } from '../contracts/streams.ts'

/** One nats-server, as its monitoring address describes it. */
export type BrokerServer = { readonly name: string; readonly version: string; readonly syncAlways: boolean }

export type LogDurability = {
  /** Servers that hold each message: the fewest of any partition. */
  readonly replicas: number
  /** Whether each of them syncs before an ack; null when a server could not be asked. */
  readonly syncAlways: boolean | null
  /** Servers that take part and whose monitoring address nobody named, or did not answer. */
  readonly notAsked: readonly string[]
}

/** With fewer, one machine that is lost takes acknowledged events with it or stops the log. */
export const REPLICAS_SAFE = 3
const MONITOR_TIMEOUT_MS = 3_000
/** A leader hears from each follower every second. */
const SILENT_MS = 5_000

/** Reads the streams and asks every monitoring address. Throws when a stream is missing; a silent address is no error. */
export async function readDurability(
  jsm: JetStreamManager,
  options: { readonly partitions: number; readonly monitors: readonly string[] },
): Promise<LogDurability> {
  const partitions = Array.from({ length: options.partitions }, (_, partition) => partition)
  const streams = await Promise.all(partitions.map(partition => jsm.streams.info(streamName(partition))))
  const answers = await Promise.all(options.monitors.map(askServer))
  return assessDurability(
    streams,
    answers.filter(server => server !== null),
  )
}

/**
 * The durability these streams have on these servers. Pure. A server that is down acknowledges nothing, so a gateway may
 * start while one of three is away; one that takes part and is not known may be acknowledging from its page cache.
 */
export function assessDurability(
  streams: readonly Pick<StreamInfo, 'config' | 'cluster'>[],
  servers: readonly BrokerServer[],
): LogDurability {
  const replicas = Math.min(...streams.map(stream => stream.config.num_replicas))
  const known = new Map(servers.map(server => [server.name, server.syncAlways]))
  const taking = new Set(streams.flatMap(membersOf))
  // A server outside a cluster does not name itself in its streams: it is the one that was asked.
  if (taking.size === 0) return { replicas, syncAlways: ofAll([...known.values()]), notAsked: [] }
  const notAsked = [...taking].filter(name => !known.has(name))
  const asked = [...taking].flatMap(name => known.get(name) ?? [])
  const all = ofAll(asked)
  return { replicas, syncAlways: all === true && notAsked.length > 0 ? null : all, notAsked }
}

function membersOf({ cluster }: Pick<StreamInfo, 'cluster'>): string[] {
  const followers = (cluster?.replicas ?? []).filter(isTakingPart).map(peer => peer.name)
  return cluster?.leader ? [cluster.leader, ...followers] : followers
}

/**
 * A server that was killed is called offline minutes later only; until then its silence gives it away. A leader that has
 * not heard from it at all, because it led itself until it was killed, says 0 and not current.
 */
function isTakingPart({ offline, active, current }: PeerInfo): boolean {
  const wasHeard = current || active > 0
  return offline !== true && wasHeard && active < nanos(SILENT_MS)
}

const ofAll = (synced: readonly boolean[]): boolean | null => (synced.length === 0 ? null : synced.every(Boolean))

/** Why an ack is no promise that survives the loss of a machine and of its power; null when it is one. */
export function durabilityFault({ replicas, syncAlways, notAsked }: LogDurability): string | null {
  const faults: string[] = []
  if (replicas < REPLICAS_SAFE) faults.push(`the streams have ${replicas} of ${REPLICAS_SAFE} replicas (NATS_REPLICAS)`)
  if (syncAlways === false) faults.push('a server acknowledges before it syncs (set sync_interval: always)')
  if (syncAlways === null) {
    const whom = notAsked.length > 0 ? `: ${notAsked.join(', ')}` : ''
    faults.push(`it is not known whether every server syncs before an ack${whom} (set NATS_MONITOR_URL)`)
  }
  return faults.length === 0 ? null : faults.join('; ')
}

/** One sentence for a person. */
export function ackMeaning({ replicas, syncAlways }: LogDurability): string {
  const copies = replicas === 1 ? 'on one server' : `on a majority of ${replicas} servers`
  if (syncAlways === true) return `an ack means: synced to disk ${copies}`
  if (syncAlways === false) return `an ack means: in the page cache ${copies}; a crash loses nothing, a power cut may`
  return `an ack means: ${copies}; whether it is synced to disk is not known`
}

/** The server behind a monitoring address; null when it does not answer as one with JetStream. */
async function askServer(url: string): Promise<BrokerServer | null> {
  try {
    const response = await fetch(`${url.replace(/\/$/, '')}/varz`, { signal: AbortSignal.timeout(MONITOR_TIMEOUT_MS) })
    const { server_name: name, version, jetstream } = (await response.json()) as Varz
    if (!name || !jetstream?.config) return null
    return { name, version: version ?? '', syncAlways: jetstream.config.sync_always === true }
  } catch {
    return null // Whoever asks learns it by the server's absence from the answer.
  }
}

type Varz = { server_name?: string; version?: string; jetstream?: { config?: { sync_always?: boolean } } }

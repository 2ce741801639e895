// Asks the aggregator, over the broker, about references that the gateway does not remember.
import type { NatsConnection } from '@nats-io/transport-node'
import {
  decodePlaces,
  decodeStored,
  encodeRequest,
  type FirstPlaces,
  type FirstSeenRequest,
  firstSeenSubject,
} from '../../shared/contracts/first-seen.ts'
import type { Tenant } from '../../shared/tenant.ts'

export type FirstSeenClient = {
  /** Where the log first carried these references of a partition. Rejects when no aggregator answers in time. */
  places(partition: number, idHashes: readonly string[]): Promise<FirstPlaces>
  /** The line of an event, as it is stored; null when there is none. Rejects when no aggregator answers in time. */
  event(partition: number, of: Tenant, idHash: string): Promise<string | null>
}

/** The index answers from memory; a busy aggregator takes longer, and the sender waits. */
const PLACES_TIMEOUT_MS = 200
/** A look-up in ClickHouse. */
const EVENT_TIMEOUT_MS = 1_000

/** `connected`: while the broker is away nothing is asked, since the client would keep it all. */
export function createFirstSeenClient(connection: NatsConnection, connected: () => boolean): FirstSeenClient {
  const ask = async (partition: number, request: FirstSeenRequest, timeout: number): Promise<Uint8Array> => {
    if (!connected()) throw new Error('NATS is not connected')
    const answer = await connection.request(firstSeenSubject(partition), encodeRequest(request), { timeout })
    return answer.data
  }
  return {
    places: async (partition, idHashes) =>
      decodePlaces(await ask(partition, { kind: 'places', idHashes }, PLACES_TIMEOUT_MS), idHashes.length),
    event: async (partition, { platformId, environment }, idHash) =>
      decodeStored(await ask(partition, { kind: 'event', idHash, platformId, environment }, EVENT_TIMEOUT_MS)),
  }
}

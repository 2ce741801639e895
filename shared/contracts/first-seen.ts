// What a gateway asks the aggregator that works a partition: where the log first carried a reference, and the event as it is stored.
// A request over the broker that nothing depends on: whoever does not answer in time is not waited for.
import { ENVIRONMENTS, type Environment } from '../tenant.ts'

/** Where the aggregator that works this partition answers. */
export const firstSeenSubject = (partition: number): string => `first-seen.${partition}`

/** References in one request. */
export const REFERENCES_MAX = 1_000

/** `places`: where the events of these references lie. `event`: the event of one, from the store, when the log has it no more. */
export type FirstSeenRequest =
  | { readonly kind: 'places'; readonly idHashes: readonly string[] }
  | { readonly kind: 'event'; readonly idHash: string; readonly platformId: string; readonly environment: Environment }

/** The message of the log and the line in it, for each reference asked; null for one that is not known. */
export type FirstPlaces = readonly (readonly [seq: number, line: number] | null)[]

export const encodeRequest = (request: FirstSeenRequest): Uint8Array => Buffer.from(JSON.stringify(request))

/** The request in `bytes`, or null when it is none: another build may share the broker. */
export function decodeRequest(bytes: Uint8Array): FirstSeenRequest | null {
  const { kind, idHashes, idHash, platformId, environment } = objectIn(bytes)
  if (kind === 'places' && Array.isArray(idHashes) && idHashes.length <= REFERENCES_MAX)
    return idHashes.every(isIdHash) ? { kind, idHashes } : null
  if (kind === 'event' && isIdHash(idHash) && typeof platformId === 'string' && isEnvironment(environment))
    return { kind, idHash, platformId, environment }
  return null
}

export const encodePlaces = (places: FirstPlaces): Uint8Array => Buffer.from(JSON.stringify({ places }))

/** The answer to `places` about so many references. Throws when it is none. */
export function decodePlaces(bytes: Uint8Array, references: number): FirstPlaces {
  const { places } = objectIn(bytes)
  if (!Array.isArray(places) || places.length !== references || !places.every(isPlaceOrNull))
    throw new Error('not an answer of places')
  return places
}

/** `line`: as the log had it; null when the store has no such event. */
export const encodeStored = (line: string | null): Uint8Array => Buffer.from(JSON.stringify({ line }))

/** The answer to `event`. Throws when it is none. */
export function decodeStored(bytes: Uint8Array): string | null {
  const { line } = objectIn(bytes)
  if (line === null || typeof line === 'string') return line
  throw new Error('not an answer of an event')
}

function objectIn(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {} // no JSON
  }
}

const isIdHash = (value: unknown): value is string => typeof value === 'string' && /^[0-9a-f]{32}$/.test(value)
const isEnvironment = (value: unknown): value is Environment => ENVIRONMENTS.some(each => each === value)
const isPlaceOrNull = (value: unknown): boolean =>
  value === null || (Array.isArray(value) && value.length === 2 && value.every(each => Number.isSafeInteger(each)))

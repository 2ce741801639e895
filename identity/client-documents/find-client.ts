// Which client an id belongs to: one that registered, or one whose id is the address of its document. Documents are read when
// they are needed and kept in the database for all processes; what could not be read or was wrong is never kept.
import { asSystem, type Database } from '../../shared/database/database.ts'
import type { Logger } from '../../shared/process/logger.ts'
import type { RateLimit } from '../http/rate-limits.ts'
import { type Client, extendClientDocument, findClient, saveClientDocument } from '../store/clients.ts'
import { clientIdUrlFault, hostOfClient, isClientIdUrl } from './client-id-url.ts'
import { type DocumentAccess, fetchDocument, UnreadableDocument } from './fetch-document.ts'
import { InvalidDocument, readDocument } from './read-document.ts'

/** Documents that one process reads at the same time. */
const READINGS_MAX = 10
const BUSY_SECONDS = 5

export type FoundClient =
  | { readonly kind: 'found'; readonly client: Client }
  /** No such client. `fault` says what is wrong with its document, when it is the document. */
  | { readonly kind: 'unknown'; readonly fault: string | null }
  /** Nobody can say right now. */
  | { readonly kind: 'unread'; readonly waitSeconds: number }

export type FindClient = {
  /** For a new authorization: by a document that is fresh, or is read now. `address`: the caller, whose readings are counted. */
  forAuthorization(clientId: string, address: string): Promise<FoundClient>
  /**
   * For a token: likewise, but a document that cannot be read holds for a day after its last reading. An application does not
   * lose its users because its site is down for an hour.
   */
  forToken(clientId: string, address: string): Promise<FoundClient>
}

export type FindClientDeps = {
  readonly database: Database
  readonly logger: Logger
  /** Private-use schemes that redirect addresses may have. */
  readonly redirectSchemes: readonly string[]
  /** Null: ids that are addresses are not taken. */
  readonly clientDocuments: DocumentAccess | null
  /** Readings, by the address of the caller. */
  readonly readings: RateLimit
}

export function createFindClient(deps: FindClientDeps): FindClient {
  const { database, clientDocuments } = deps
  const readings = new Map<string, Promise<FoundClient>>()
  const stored = (clientId: string): Promise<Client | null> =>
    asSystem(database, 'identity', tx => findClient(tx, clientId))

  /** Each document once at a time, however many are waiting for it; not at all when it was read since they looked. */
  const readOnce = (access: DocumentAccess, clientId: string, address: string): Promise<FoundClient> => {
    const under = readings.get(clientId)
    if (under) return under
    if (readings.size >= READINGS_MAX) return Promise.resolve({ kind: 'unread', waitSeconds: BUSY_SECONDS })
    const read = async (): Promise<FoundClient> => {
      const known = await stored(clientId)
      if (known?.document?.isRecentlyAuthenticated) return { kind: 'found', client: known }
      const wait = await deps.readings.take(address)
      return wait === null
        ? await readAndKeep(deps, access, { clientId, known })
        : { kind: 'unread', waitSeconds: wait }
    }
    const reading = read().finally(() => readings.delete(clientId))
    readings.set(clientId, reading)
    return reading
  }

  const find = async (clientId: string, address: string, orLast: boolean): Promise<FoundClient> => {
    if (!isClientIdUrl(clientId)) {
      const client = await stored(clientId)
      return client ? { kind: 'found', client } : { kind: 'unknown', fault: null }
    }
    if (clientDocuments === null) return { kind: 'unknown', fault: null }
    const fault = clientIdUrlFault(clientId)
    return fault === null
      ? await findByDocument(clientDocuments, { clientId, address, orLast })
      : { kind: 'unknown', fault }
  }

  type Wanted = { readonly clientId: string; readonly address: string; readonly orLast: boolean }
  const findByDocument = async (
    access: DocumentAccess,
    { clientId, address, orLast }: Wanted,
  ): Promise<FoundClient> => {
    const known = await stored(clientId)
    if (known?.document?.isRecentlyAuthenticated) return { kind: 'found', client: known }
    const found = await readOnce(access, clientId, address)
    const holds = orLast && known?.document?.isOfToday
    return found.kind === 'unread' && holds ? { kind: 'found', client: known } : found
  }
  return {
    forAuthorization: (clientId, address) => find(clientId, address, false),
    forToken: (clientId, address) => find(clientId, address, true),
  }
}

async function readAndKeep(
  { database, logger, redirectSchemes }: FindClientDeps,
  access: DocumentAccess,
  { clientId, known }: { readonly clientId: string; readonly known: Client | null },
): Promise<FoundClient> {
  const host = hostOfClient(clientId)
  try {
    const fetched = await fetchDocument(access, clientId, known?.document?.etag ?? null)
    const { maxAgeSeconds } = fetched
    const client = await asSystem(database, 'identity', tx =>
      fetched.kind === 'unchanged'
        ? extendClientDocument(tx, clientId, maxAgeSeconds)
        : saveClientDocument(tx, clientId, {
            ...readDocument(fetched.text, clientId, redirectSchemes),
            etag: fetched.etag,
            maxAgeSeconds,
          }),
    )
    // Unchanged, but removed by maintenance in that moment: the next call reads the whole of it.
    return client ? { kind: 'found', client } : { kind: 'unread', waitSeconds: 1 }
  } catch (error) {
    if (error instanceof InvalidDocument) {
      logger.info({ host, reason: error.message }, "a client's document was refused")
      return { kind: 'unknown', fault: error.message }
    }
    if (error instanceof UnreadableDocument) {
      logger.info({ host, reason: error.message }, "a client's document could not be read")
      return { kind: 'unread', waitSeconds: BUSY_SECONDS }
    }
    throw error
  }
}

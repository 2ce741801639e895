// What every part of the identity host is given.
import type { Database } from '../shared/database/database.ts'
import type { Logger } from '../shared/process/logger.ts'
import type { DocumentAccess } from './client-documents/fetch-document.ts'

export type IdentityDeps = {
  /** In the role `millrace_identity`. */
  readonly database: Database
  readonly logger: Logger
  /** Public address of this host, without a slash at the end: the issuer, byte for byte. */
  readonly identityUrl: string
  /** Public address of the api, which tokens are for. */
  readonly baseUrl: string
  /** Private-use schemes that redirect addresses may have besides https; the operator's choice, none by default. */
  readonly redirectSchemes: readonly string[]
  /** How clients that are the address of a document are looked up; null: they are not taken. */
  readonly clientDocuments: DocumentAccess | null
  /** Addresses and networks whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[]
  /** Seals what must not be in the database in clear. */
  readonly secret: string
  /** Called when a stolen refresh token ended its family. */
  readonly onTokenReuse: (found: { readonly userId: string; readonly grantId: string }) => void
  /** Null when ready, otherwise why not. */
  readonly ready: () => Promise<string | null>
}

// Links to documents that need no key: the link names the invoice and its tenant under a seal, and ends by itself.
import { seal, unseal } from '../../../../../shared/secrets/seal.ts'
import type { Tenant } from '../../../../../shared/tenant.ts'
import { type Instant, instantOf } from '../../../../../shared/time.ts'

const PURPOSE = 'invoice-document'
/** Long enough to follow a link or hand it to a program, too short to be kept in a history. */
const LIFETIME_MS = 10 * 60_000

export type DocumentFormat = 'PDF' | 'HTML'
export type LinkedDocument = { readonly tenant: Tenant; readonly invoiceId: string; readonly format: DocumentFormat }

type Sealed = {
  readonly platform: string
  readonly environment: Tenant['environment']
  readonly invoice: string
  readonly format: DocumentFormat
  readonly until: number
}

/** A token for `document`, and when it ends: ten minutes from `now`. */
export async function documentToken(
  secret: string,
  { tenant, invoiceId, format }: LinkedDocument,
  now: Instant,
): Promise<{ readonly token: string; readonly expiresAt: Instant }> {
  const expiresAt = instantOf(now + LIFETIME_MS)
  const { platformId: platform, environment } = tenant
  const sealed: Sealed = { platform, environment, invoice: invoiceId, format, until: expiresAt }
  return { token: await seal(secret, PURPOSE, JSON.stringify(sealed)), expiresAt }
}

/** What a token is for; null for one that is forged, sealed for something else, or over. */
export async function openDocumentToken(secret: string, token: string, now: Instant): Promise<LinkedDocument | null> {
  const text = await unseal(secret, PURPOSE, token).catch(() => null)
  if (text === null) return null
  const { platform, environment, invoice, format, until } = JSON.parse(text) as Sealed
  if (now >= until) return null
  return { tenant: { platformId: platform, environment }, invoiceId: invoice, format }
}

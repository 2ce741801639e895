// Links to documents that need no API key: a sealed token names the invoice and its tenant, and expires.
import { seal, unseal } from '../../../../../shared/secrets/seal.ts'
import type { Tenant } from '../../../../../shared/tenant.ts'
import { type Instant, instantOf } from '../../../../../shared/time.ts'

const PURPOSE = 'invoice-document'
/** Long enough to follow a link or pass it to a program, too short to be useful in a history. */
const LIFETIME_MS = 10 * 60_000

export const DOCUMENT_FORMATS = ['PDF', 'HTML', 'UBL', 'FACTUR_X'] as const
export type DocumentFormat = (typeof DOCUMENT_FORMATS)[number]
export type LinkedDocument = { readonly tenant: Tenant; readonly invoiceId: string; readonly format: DocumentFormat }

type Sealed = {
  readonly platform: string
  readonly environment: Tenant['environment']
  readonly invoice: string
  readonly format: DocumentFormat
  readonly until: number
}

/** A token for `document` and its expiry: ten minutes from `now`. */
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

/** The document of a token; null for a token that is forged, sealed for another purpose, or expired. */
export async function openDocumentToken(secret: string, token: string, now: Instant): Promise<LinkedDocument | null> {
  const text = await unseal(secret, PURPOSE, token).catch(() => null)
  if (text === null) return null
  const { platform, environment, invoice, format, until } = JSON.parse(text) as Sealed
  if (now >= until) return null
  return { tenant: { platformId: platform, environment }, invoiceId: invoice, format }
}

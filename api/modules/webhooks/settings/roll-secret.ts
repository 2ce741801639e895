// The secret that signs deliveries: created, rolled and removed. Only the response that creates it shows it.
import { randomBytes } from 'node:crypto'
import type { Uow } from '../../../../shared/database/database.ts'
import { seal } from '../../../../shared/secrets/seal.ts'
import { formatInstant, instantOf } from '../../../../shared/time.ts'
import { saveChange } from '../../../resource/commands.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { lockExisting } from '../../../resource/store.ts'
import { viewOf } from '../../../resource/views.ts'
import { SEALED_FOR } from '../request/request.ts'
import { SECRET_PREFIX } from '../request/signature.ts'
import { webhookResource } from '../webhook.ts'

const SECRET_BYTES = 32
const HOUR_MS = 3_600_000
/** The longest time for which two secrets sign together, and the default (contract: Limits). */
const OVERLAP_HOURS_MAX = 24

/**
 * Gives the webhook a new secret, which the returned view contains. The previous secret also signs for `hours`; an even
 * older one stops signing now.
 */
export async function rollSecret(
  dataSecret: string,
  uow: Uow,
  idOrReference: string,
  hours: number = OVERLAP_HOURS_MAX,
): Promise<Row> {
  const webhook = await lockExisting(uow, webhookResource, idOrReference)
  const secret = `${SECRET_PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`
  const overlaps = webhook.secret_sealed !== null && hours > 0
  const saved = await saveChange(uow, webhookResource, webhook, {
    secret_sealed: await seal(dataSecret, SEALED_FOR, secret),
    secret_rolled_at: formatInstant(uow.now),
    previous_secret_sealed: overlaps ? webhook.secret_sealed : null,
    previous_secret_until: overlaps ? formatInstant(instantOf(uow.now + hours * HOUR_MS)) : null,
  })
  return { ...(await viewOf(uow, webhookResource, saved)), secret_key: secret }
}

/** Ends signing at once; does nothing when there is no secret. */
export async function removeSecret(uow: Uow, idOrReference: string): Promise<Row> {
  const webhook = await lockExisting(uow, webhookResource, idOrReference)
  if (webhook.secret_sealed === null) return await viewOf(uow, webhookResource, webhook)
  const saved = await saveChange(uow, webhookResource, webhook, {
    secret_sealed: null,
    secret_rolled_at: null,
    previous_secret_sealed: null,
    previous_secret_until: null,
  })
  return await viewOf(uow, webhookResource, saved)
}

// Sends a test event, at once and outside any queue: to a webhook, or to a configuration that is not saved.
import { AppError } from '../../../../shared/errors.ts'
import { newId } from '../../../../shared/ids.ts'
import type { Environment } from '../../../../shared/tenant.ts'
import { formatInstant, type Instant } from '../../../../shared/time.ts'
import type { Row } from '../../../resource/define-resource.ts'
import { payloadText } from '../request/payload.ts'
import type { Post, PostOutcome } from '../request/post.ts'
import { type Endpoint, type Opener, requestFor } from '../request/request.ts'
import type { Webhook } from '../table.ts'

/** No webhook can select this type, and no list of event types has it: only a test sends it. */
const TEST_TYPE = 'WEBHOOK.TEST'

/** Sends a test event whose data is the webhook itself. */
export async function sendTest(
  deps: { readonly post: Post; readonly open: Opener },
  endpoint: Endpoint,
  of: {
    readonly data: Row
    readonly environment: Environment
    readonly requestId: string | null
    readonly now: Instant
  },
): Promise<{ successful: boolean; message: string }> {
  const event = {
    created_at: formatInstant(of.now),
    type: TEST_TYPE,
    request_id: of.requestId,
    environment: of.environment,
    data: of.data,
    previous_data: null,
    metadata: null,
  }
  const sent = { eventId: newId('evnt'), body: payloadText(event, false), now: of.now }
  return connectionOf(await deps.post(await requestFor(endpoint, sent, deps.open)))
}

/** An attempt as returned to the caller. */
export const connectionOf = ({ succeeded, responseCode, cause }: PostOutcome) => ({
  successful: succeeded,
  message: cause ?? `The endpoint answered ${responseCode}.`,
})

/** Throws for a webhook that the service has disabled (contract: Errors). */
export function refuseDisabled({ id, active, disabled_reason }: Webhook): void {
  if (active || disabled_reason === null) return
  const message = `The webhook is disabled: ${disabled_reason} Set active to true first.`
  throw new AppError('INVALID_OPERATION', message, { field: 'active', resourceId: id, resourceType: 'WEBHOOK' })
}

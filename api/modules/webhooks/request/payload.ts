// The body of a delivery (contract: Webhook delivery payload): a function of an outbox row, which never changes. The
// function never changes either (payload.test.ts fixes its bytes), so a body is the same at every attempt, whichever
// version of the program makes it (docs/decisions/0021).
import { at, formatInstant } from '../../../../shared/time.ts'
import type { OutboxRow } from '../../../workers/outbox-row.ts'

export type PayloadEvent = Pick<
  OutboxRow,
  'created_at' | 'type' | 'request_id' | 'environment' | 'data' | 'previous_data' | 'metadata'
>

/** The payload as the members of an object; `previous_data` only for updates, when `withPrevious` is true. */
export const payloadOf = (event: PayloadEvent, withPrevious: boolean): Record<string, unknown> => ({
  created_at: formatInstant(at(event.created_at)),
  type: event.type,
  ...(event.request_id === null ? {} : { original_request_id: event.request_id }),
  environment: event.environment,
  ...(withPrevious && event.previous_data !== null ? { previous_data: event.previous_data } : {}),
  data: event.data,
  ...(event.metadata === null ? {} : { metadata: event.metadata }),
})

/** The text that is sent and signed. */
export const payloadText = (event: PayloadEvent, withPrevious: boolean): string =>
  JSON.stringify(payloadOf(event, withPrevious))

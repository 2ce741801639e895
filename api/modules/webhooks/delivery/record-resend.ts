// Records for the audit trail that a user had an event sent again.
import type { Uow } from '../../../../shared/database/database.ts'
import { emit } from '../../../outbox.ts'
import type { RelayedChange } from '../../../workers/outbox-consumer.ts'

/**
 * Emits WEBHOOK_EVENT.RESENT. Call it before the event is sent, so that nothing is ever sent without a record of who
 * requested it.
 */
export const recordResend = (uow: Uow, webhookId: string, { id, type }: Pick<RelayedChange, 'id' | 'type'>) =>
  emit(uow, {
    type: 'WEBHOOK_EVENT.RESENT',
    objectId: id,
    data: { object_type: 'WEBHOOK_EVENT', id, type, webhook_id: webhookId },
    previous: null,
  })

// What the operations of webhooks do beyond their summary.

export const WEBHOOKS_OPERATIONS: Readonly<Record<string, string>> = {
  webhooks_create:
    'Each change is sent from then on, in the order in which changes were committed, until the endpoint answers 2XX. The address must ' +
    'lead to the public internet. Make a secret with `webhooks_secret_key_change` to have deliveries signed.',
  webhooks_update:
    'Setting `active` to true starts a webhook again that was disabled: with the next change. What happened meanwhile is not ' +
    'sent by itself: use `webhooks_replay`.',
  webhooks_secret_key_change:
    'Answers the new secret in `secret_key`, in this answer only. The previous secret also signs, for up to 24 hours: receivers ' +
    'accept a delivery when either signature is right. A second roll meanwhile ends the oldest.',
  webhooks_secret_key_clear: 'Deliveries carry no signature from then on. Make a new secret to have them signed again.',
  webhooks_send_test:
    'Sends an event of type `WEBHOOK.TEST` whose `data` is the webhook, with its credentials and signatures, and answers what came of ' +
    'it. Refused while the service has disabled the webhook.',
  webhooks_send_penalty_box_payload:
    'Use it when the endpoint works again, so as not to wait for `penalty_box_data.retry_at`. Received, the queue continues behind it. A ' +
    'failure does not count towards the 20 that disable a webhook. Refused while the service has disabled the webhook.',
  webhooks_test_connection:
    'Sends an event of type `WEBHOOK.TEST` to the address, with the credentials that are sent. Use it before `webhooks_create`.',
  webhooks_actions_read: 'Names match exactly: none stands for several, and CREATED or UPDATED do not imply others.',
  webhooks_replay:
    'Use it when an endpoint was switched off, or has lost events. New events wait behind those that are sent again, so that order holds; ' +
    'events may be older than seven days. Answers at once; follow `status` with `webhooks_replays_get`. A failure is treated like any other: the ' +
    'event is sent again later, and 20 in a row disable the webhook, which cancels the replay.',
  webhooks_replays_read: 'A webhook has at most one replay that is RUNNING.',
  webhooks_replays_get: 'Shows how many events were sent, and how many remain.',
  webhooks_replays_cancel:
    'New events are sent again from then on. The endpoint may have received older states last: cancel only what it can do without.',
  webhook_events_list:
    'Complete and in order, also for those who have no webhook: continue with `starting_after` the last event you read, and you miss none and get none twice. With ' +
    'a filter an answer may hold fewer than `limit` although `has_more` is true; follow `links.next`.',
  webhook_events_get: 'Use it to see which webhooks have received the event, and which have not.',
  webhook_events_attempts_read: 'Shows when the event was sent, why, and how the endpoint answered.',
  webhook_events_resend:
    'Use it when your system has lost an event. The body and the id are the same as before. The queue does not change, and a failure does not count ' +
    'towards the 20 that disable a webhook. Refused while the service has disabled the webhook.',
}

// What the worker counts.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

export type WorkerMetrics = {
  /** Of every job in the list. */
  readonly jobs: Counter<'job' | 'outcome'>
  readonly jobSeconds: Histogram<'job'>
  readonly relayed: Counter
  /** Seconds the oldest change not yet relayed has waited. */
  readonly relayLag: Gauge
  /** Seconds the oldest relayed change that a consumer has not read has waited. */
  readonly consumerLag: Gauge<'consumer'>
  readonly billingRuns: Counter<'outcome'>
  /** Subscriptions that are due to be billed, of all tenants. */
  readonly billingDue: Gauge
  /** Of those, the ones whose last run failed or was killed. */
  readonly billingFailing: Gauge
  /** Seconds for which the oldest of them has been due. */
  readonly billingLag: Gauge
  readonly expiredKeys: Counter
  /** Actions with effects outside that were given up. */
  readonly actionsFailed: Gauge
  /** Seconds since the oldest unfinished action was begun. */
  readonly actionsAge: Gauge
  /** Rows that the outbox no longer keeps. */
  readonly expiredChanges: Counter
  /** Of those, rows that a consumer had not read. */
  readonly unreadChanges: Counter
  readonly webhookAttempts: Counter<'outcome'>
  readonly webhookSeconds: Histogram
  /** Since the start of this worker. */
  readonly webhooksDisabled: Counter
  /** Age of the oldest event that is not delivered yet. */
  readonly webhookOldest: Gauge<'class'>
  readonly webhookQueues: Gauge<'class'>
  readonly files: Counter<'outcome'>
  readonly downloads: Counter<'outcome'>
  readonly alerts: Counter<'type'>
  readonly alertEvaluations: Counter<'outcome'>
  readonly alertsSeenUntil: Gauge
  /** Platforms whose exchange rates were not fetched, or are old. */
  readonly exchangeRateFaults: Gauge
  /** Of the last nightly verification. */
  readonly auditFaults: Gauge
}

export const createWorkerMetrics = (registry: Registry): WorkerMetrics => {
  const registers = [registry]
  return {
    jobs: new Counter({
      name: 'millrace_jobs_total',
      help: 'Runs of background jobs, by job and outcome; a failed one is tried again.',
      labelNames: ['job', 'outcome'],
      registers,
    }),
    jobSeconds: new Histogram({
      name: 'millrace_job_seconds',
      help: 'How long runs of background jobs take, by job.',
      labelNames: ['job'],
      buckets: [0.01, 0.1, 1, 10, 60, 600],
      registers,
    }),
    relayed: new Counter({
      name: 'millrace_outbox_relayed_total',
      help: 'Changes put in order for consumers.',
      registers,
    }),
    relayLag: new Gauge({
      name: 'millrace_outbox_lag_seconds',
      help: 'Age of the oldest change that is not yet relayed; 0 when there is none.',
      registers,
    }),
    consumerLag: new Gauge({
      name: 'millrace_outbox_consumer_lag_seconds',
      help: 'Age of the oldest relayed change that the consumer has not read; 0 when there is none.',
      labelNames: ['consumer'],
      registers,
    }),
    billingRuns: new Counter({
      name: 'millrace_billing_runs_total',
      help: 'Billing runs of one subscription each, by outcome.',
      labelNames: ['outcome'],
      registers,
    }),
    billingDue: new Gauge({
      name: 'millrace_billing_due_subscriptions',
      help: 'Subscriptions that are due to be billed, as counted every minute.',
      registers,
    }),
    billingFailing: new Gauge({
      name: 'millrace_billing_failing_subscriptions',
      help: 'Subscriptions that are due and whose last billing run failed or was killed; each is tried again by itself.',
      registers,
    }),
    billingLag: new Gauge({
      name: 'millrace_billing_lag_seconds',
      help: 'How long the subscription that waits longest has been due to be billed; 0 when none is due.',
      registers,
    }),
    expiredKeys: new Counter({
      name: 'millrace_idempotency_keys_expired_total',
      help: 'Stored answers of Idempotency-Keys removed after 48 hours.',
      registers,
    }),
    actionsFailed: new Gauge({
      name: 'millrace_actions_failed',
      help: 'Calls with effects outside the database that failed for a day and were given up; kept 90 days or until deleted.',
      registers,
    }),
    actionsAge: new Gauge({
      name: 'millrace_actions_unfinished_age_seconds',
      help: 'Age of the oldest call with effects outside the database that is not finished; 0 when there is none.',
      registers,
    }),
    expiredChanges: new Counter({
      name: 'millrace_outbox_expired_total',
      help: 'Relayed changes deleted from the outbox after OUTBOX_RETENTION_DAYS, unread ones included.',
      registers,
    }),
    unreadChanges: new Counter({
      name: 'millrace_outbox_expired_unread_total',
      help: 'Changes deleted from the outbox although a consumer had not read them, because it was too far behind.',
      registers,
    }),
    webhookAttempts: new Counter({
      name: 'millrace_webhook_attempts_total',
      help: 'Attempts to deliver one event to one webhook, by outcome: succeeded, or failed and tried again later.',
      labelNames: ['outcome'],
      registers,
    }),
    webhookSeconds: new Histogram({
      name: 'millrace_webhook_attempt_seconds',
      help: 'How long endpoints of webhooks take to answer; 10 when they do not.',
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    webhooksDisabled: new Counter({
      name: 'millrace_webhooks_disabled_total',
      help: 'Webhooks disabled after 20 failures in a row.',
      registers,
    }),
    webhookOldest: new Gauge({
      name: 'millrace_webhook_oldest_undelivered_seconds',
      help: 'Age of the oldest event that waits for a webhook, by class: healthy, or failing (tried again later, up to 7 days).',
      labelNames: ['class'],
      registers,
    }),
    webhookQueues: new Gauge({
      name: 'millrace_webhook_queues',
      help: 'Webhooks by class: healthy, failing (at least one failure in a row), or disabled by the service.',
      labelNames: ['class'],
      registers,
    }),
    files: new Counter({
      name: 'millrace_files_total',
      help: 'Runs that process one file each: done, error (it cannot be read), or interrupted, to be resumed.',
      labelNames: ['outcome'],
      registers,
    }),
    downloads: new Counter({
      name: 'millrace_file_downloads_total',
      help: 'Attempts to fetch a file: downloaded, retried (the other side failed), error (it is given up), or interrupted by us.',
      labelNames: ['outcome'],
      registers,
    }),
    alerts: new Counter({
      name: 'millrace_alerts_total',
      help: 'Alerts made by rules, by type.',
      labelNames: ['type'],
      registers,
    }),
    alertEvaluations: new Counter({
      name: 'millrace_alert_evaluations_total',
      help: 'Evaluations of alert rules, one per tenant: complete, partial (the next one continues there), or failed and retried.',
      labelNames: ['outcome'],
      registers,
    }),
    alertsSeenUntil: new Gauge({
      name: 'millrace_alerts_seen_until_seconds',
      help: 'Unix time at which the last complete evaluation of alert rules began, for the tenant that has waited longest.',
      registers,
    }),
    exchangeRateFaults: new Gauge({
      name: 'millrace_exchange_rate_faults',
      help: 'Platforms whose exchange rates could not be fetched from their address, or are older than a week.',
      registers,
    }),
    auditFaults: new Gauge({
      name: 'millrace_audit_chain_faults',
      help: 'Places where the audit chain was broken at its last nightly verification; 0 is expected.',
      registers,
    }),
  }
}

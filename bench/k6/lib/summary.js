// What a person wants to know of a run: was anything lost, what was refused, how long did an acknowledgement take.
import { durationSeconds, ingestUrl } from './target.js'

const figure = value => String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',')
const ms = value => `${value.toFixed(1)} ms`

/** For handleSummary: the verdict on the screen, and every figure in bench/results. */
export const summary = scenario => data => {
  const count = name => (data.metrics[name] ? data.metrics[name].values.count : 0)
  const gauge = name => (data.metrics[name] ? data.metrics[name].values.value : 0)
  const ack = data.metrics.ack_ms ? data.metrics.ack_ms.values : {}
  const [acceptedNew, unknown, counted] = [count('events_accepted_new'), count('events_unknown_new'), gauge('usage_counted')]
  const lost = Math.max(0, acceptedNew - counted)
  const extra = Math.max(0, counted - acceptedNew - unknown)
  const failed = Object.entries(data.metrics).flatMap(([name, metric]) =>
    Object.entries(metric.thresholds || {}).flatMap(([rule, { ok }]) => (ok ? [] : [`${name} ${rule}`])),
  )
  const lines = [
    '',
    `${scenario}, against ${ingestUrl}, ${durationSeconds} s`,
    `  accepted   ${figure(count('events_accepted'))} events (${figure(count('events_accepted') / durationSeconds)} a second), ${figure(acceptedNew)} of them new`,
    `  counted    ${figure(counted)}; the last of them ${gauge('usage_counted_after_s').toFixed(0)} s after the load had ended`,
    `  lost       ${figure(lost)}`,
    `  too many   ${figure(extra)}`,
    `  refused    ${figure(count('requests_throttled'))} requests with 429, ${figure(count('requests_unavailable'))} with 503, ${figure(count('requests_refused'))} otherwise; ${figure(count('requests_broken'))} without an answer`,
    `  wrong      ${figure(count('answers_wrong'))} answers`,
    `  ack        p50 ${ms(ack.med || 0)}, p95 ${ms(ack['p(95)'] || 0)}, p99 ${ms(ack['p(99)'] || 0)}, longest ${ms(ack.max || 0)}`,
    `  not sent   ${figure(count('dropped_iterations'))} requests k6 had no user free for`,
    `  ${lost + extra === 0 && failed.length === 0 ? 'PASSED' : `FAILED${failed.map(each => `\n    ${each}`).join('')}${lost + extra > 0 ? '\n    accepted is not what was counted' : ''}`}`,
    '',
  ]
  const values = Object.fromEntries(Object.entries(data.metrics).map(([name, metric]) => [name, metric.values]))
  const file = __ENV.SUMMARY_FILE
  return {
    stdout: lines.join('\n'),
    ...(file ? { [file]: JSON.stringify({ scenario, lost, extra, failed, values }, null, 2) } : {}),
  }
}

/** What holds in every scenario. `ack`: the bounds of p95 and p99 in milliseconds. */
export const thresholds = ({ p95 = 250, p99 = 1000, throttled = false } = {}) => ({
  ack_ms: [`p(95)<${p95}`, `p(99)<${p99}`],
  answers_wrong: ['count==0'],
  requests_refused: ['count==0'],
  requests_unavailable: ['count==0'],
  requests_broken: ['count==0'],
  ...(throttled ? {} : { requests_throttled: ['count==0'] }),
})

/** What every scenario's options share. */
export const shared = {
  summaryTrendStats: ['min', 'med', 'avg', 'p(95)', 'p(99)', 'max'],
  setupTimeout: '60s',
  teardownTimeout: '180s',
  discardResponseBodies: false,
}

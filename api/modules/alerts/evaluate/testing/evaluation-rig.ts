// Entitlements to 1,000 tokens whose use is stored in ClickHouse, rules that watch it, and evaluations of them.
import { silentLogger } from '../../../../../shared/process/logger.ts'
import { createTestClickHouse } from '../../../../../shared/testing/clickhouse.ts'
import { type ClickHouseClient, createClickHouse, selectRows } from '../../../../../shared/usage/clickhouse.ts'
import { startOwnApi, type TestTenant } from '../../../../testing/harness.ts'
import type { Row } from '../../../../testing/wire.ts'
import {
  type Billed,
  type BilledOptions,
  billedSubscription,
  succeed,
  useTokens,
} from '../../../billing/testing/billed-subscription.ts'
import { createUsageReader } from '../../../billing/usage/usage-reader.ts'
import { grantTokens } from '../../../catalog/features/testing/grant-tokens.ts'
import type { EvaluationDeps } from '../alert-use.ts'
import { evaluateAlerts } from '../evaluate-alerts.ts'

export const NOW = '2026-03-20T12:00:00Z'

export type Granted = Billed & { readonly featureId: string }

/** For one tenant. */
function watchOf(tenant: TestTenant, deps: EvaluationDeps, client: ClickHouseClient) {
  const evaluate = (more: Partial<EvaluationDeps> = {}) => evaluateAlerts({ ...deps, ...more }, tenant.tenant)
  const rule = (body: object): Promise<Row> =>
    succeed(tenant, 'POST', '/v1/alert-rules', { reference: tenant.seed.unique('rule'), status: 'ACTIVE', ...body })
  const watching = (feature: Granted, threshold: object, more: object = {}) =>
    rule({
      type: 'ENTITLEMENT',
      entitlement: { feature_id: feature.featureId, comparator: 'GREATER_THAN_OR_EQUALS', threshold },
      ...more,
    })
  const alertsOf = async (by: Row): Promise<Row[]> =>
    (await succeed(tenant, 'GET', '/v1/alerts?limit=100'))['data']
      .filter((alert: Row) => alert['alert_rule_id'] === by['id'])
      .toReversed()
  const use = (billed: Billed, tokens: string, timestamp: string) =>
    useTokens(client, tenant, { billed, tokens, timestamp })

  /** A subscription since February 1 to which 1,000 tokens are granted. */
  async function granted(options: Partial<BilledOptions> & { readonly featureId?: string } = {}): Promise<Granted> {
    const grant = grantTokens(tenant)
    const billed = await billedSubscription(tenant, {
      start_at: '2026-02-01T00:00:00Z',
      schedule: grant.schedule,
      ...options,
    })
    return { ...billed, featureId: options.featureId ?? grant.featureId }
  }

  return { evaluate, rule, watching, alertsOf, use, granted }
}

export async function openEvaluationRig() {
  const clickhouse = await createTestClickHouse()
  const client = createClickHouse(clickhouse.url, clickhouse.database)
  const { read, latestMarks } = createUsageReader({ client, jsm: undefined as never, partitions: 0 })
  const api = await startOwnApi()
  /** Readings of usage since the test began. */
  const counted = { reads: 0 }
  const usage: EvaluationDeps['usage'] = {
    read: (...of) => {
      counted.reads += 1
      return read(...of)
    },
    latestMarks,
    // Events are stored here by the test; how far the aggregator is, is the last of them.
    positions: async () => {
      const [row] = await selectRows<[string]>(client, 'SELECT max(log_seq) FROM usage_events')
      return [Number(row?.[0] ?? 0)]
    },
  }
  const deps: EvaluationDeps = { database: api.database, usage, logger: silentLogger }
  const tenant = api.tenants.aLive
  const setTime = (text: string): void => api.clock.set(Date.parse(text))
  return {
    api,
    tenant,
    deps,
    counted,
    setTime,
    of: (other: TestTenant) => watchOf(other, deps, client),
    ...watchOf(tenant, deps, client),
    /** The rules of an earlier test are not the next one's. */
    reset: async () => {
      setTime(NOW)
      counted.reads = 0
      await api.sql(`update alert_rules set status = 'ARCHIVED'`)
      await api.sql('truncate alert_evaluations')
    },
    close: async () => {
      await api.close()
      await client.close()
      await clickhouse.drop()
    },
  }
}

// The routes of migrations: create with its preview, start, list, read, cancel, and what becomes of each subscription.
import { eq } from 'drizzle-orm'
import type { FastifyInstance } from 'fastify'
import type { Static } from 'typebox'
import { IdParams } from '../../../http/params.ts'
import { type RouteDeps, readRoute, writeRoute } from '../../../http/route.ts'
import { listRoute } from '../../../list/list-route.ts'
import type { ListSpec } from '../../../list/list-spec.ts'
import { OneOf } from '../../../resource/shapes.ts'
import { normalizeTimes } from '../../../resource/timestamps.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { subscriptionResource } from '../../subscriptions/subscription.ts'
import {
  allWithProgress,
  cancelMigration,
  createMigration,
  getMigration,
  migrationView,
  moneyView,
  startMigration,
  withProgress,
} from './migrations.ts'
import { MigratedSubscriptionView, MigrationBody, MigrationView } from './schema.ts'
import {
  MIGRATED_STATUSES,
  MIGRATION_STATUSES,
  type MigratedSubscription,
  migratedSubscriptions,
  type VersionMigration,
  versionMigrations,
} from './table.ts'

const PATH = '/v1/pricing-plan-version-migrations'
const tag = 'pricing-plan-version-migrations'
const VIEW = { tag, permission: 'PRICING_PLAN_VERSION_MIGRATION.VIEW' } as const
const CHANGE = { tag, permission: 'PRICING_PLAN_VERSION_MIGRATION.CREATE', method: 'POST' } as const

const MIGRATION_LIST: ListSpec = {
  table: versionMigrations,
  filters: {
    from_pricing_plan_version_id: { kind: 'equals', column: 'from_pricing_plan_version_id' },
    pricing_plan_version_id: { kind: 'equals', column: 'pricing_plan_version_id' },
    status: { kind: 'equals', column: 'status', schema: OneOf(...MIGRATION_STATUSES) },
    created_at: { kind: 'range', column: 'created_at' },
    updated_at: { kind: 'range', column: 'updated_at' },
  },
  orderBy: ['created_at'],
  searchable: [],
  ranges: [],
}
const SUBSCRIPTION_LIST: ListSpec = {
  table: migratedSubscriptions,
  filters: {
    status: { kind: 'equals', column: 'status', schema: OneOf(...MIGRATED_STATUSES) },
    currency: { kind: 'equals', column: 'currency' },
    customer_id: { kind: 'equals', column: 'customer_id' },
    pricing_plan_subscription_id: { kind: 'equals', column: 'pricing_plan_subscription_id' },
  },
  names: { customer_id: () => customerResource, pricing_plan_subscription_id: () => subscriptionResource },
  orderBy: ['difference', 'amount'],
  searchable: [],
  ranges: [],
}

export function migrationRoutes(app: FastifyInstance, deps: RouteDeps): void {
  writeRoute(app, deps, {
    ...CHANGE,
    summary: 'Prepare the move of all subscriptions of a version to another, and preview it.',
    url: '/v1/pricing-plan-versions/:id/migrate',
    status: 201,
    params: IdParams,
    body: MigrationBody,
    response: MigrationView,
    handle: async (uow, { params, body }) => {
      const request = normalizeTimes(MigrationBody, body) as Static<typeof MigrationBody>
      return migrationView(await createMigration(uow, params.id, request))
    },
  })
  for (const [verb, summary, change] of [
    ['start', 'Start a migration that was previewed: move its subscriptions.', startMigration],
    ['cancel', 'Cancel a migration. What is moved stays moved; one that has ended stays as it is.', cancelMigration],
  ] as const)
    writeRoute(app, deps, {
      ...CHANGE,
      summary,
      url: `${PATH}/:id/${verb}`,
      status: 200,
      params: IdParams,
      response: MigrationView,
      handle: async (uow, { params }) => migrationView(await withProgress(uow, await change(uow, params.id))),
    })
  listRoute<VersionMigration>(app, deps, {
    ...VIEW,
    summary: 'List migrations, newest first.',
    url: PATH,
    list: MIGRATION_LIST,
    item: MigrationView,
    views: async (rows, uow) => (await allWithProgress(uow, rows)).map(migrationView),
  })
  readRoute(app, deps, {
    ...VIEW,
    summary: 'Read a migration: its progress, and what its preview and its run found.',
    method: 'GET',
    url: `${PATH}/:id`,
    params: IdParams,
    response: MigrationView,
    handle: async (uow, { params }) => migrationView(await withProgress(uow, await getMigration(uow, params.id))),
  })
  listRoute<MigratedSubscription>(app, deps, {
    ...VIEW,
    summary: 'List the subscriptions of a migration: what the next invoice of each becomes, and whether it is moved.',
    url: `${PATH}/:id/results`,
    list: SUBSCRIPTION_LIST,
    item: MigratedSubscriptionView,
    of: async (uow, id) => eq(migratedSubscriptions.migration_id, (await getMigration(uow, id)).id),
    views: rows => rows.map(subscriptionView),
  })
}

function subscriptionView({
  platform_id: _platform,
  environment: _environment,
  migration_id: _of,
  ...row
}: MigratedSubscription) {
  const money = (text: string | null) => (text === null ? null : moneyView(text, row.currency))
  return {
    object_type: 'MIGRATED_SUBSCRIPTION',
    ...row,
    amount: money(row.amount),
    migrated_amount: money(row.migrated_amount),
    difference: money(row.difference),
  }
}

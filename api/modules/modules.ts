// Every module of the api, listed once, and what the processes take of them all. A new module is one line here.
import { type EventType, eventTypesOf } from '../../shared/contracts/event-types.ts'
import { actionJobs, type FinishDeps } from '../http/actions/finish-actions.ts'
import { expireKeys } from '../http/idempotency/expire-idempotency-keys.ts'
import type { Resource } from '../resource/define-resource.ts'
import type { RouteFixtures } from '../resource/routes/route-fixture.ts'
import type { Rules } from '../resource/rules.ts'
import type { TestClockSubject } from '../test-clock/test-clock-subject.ts'
import type { OutboxConsumer } from '../workers/outbox-consumer.ts'
import { expireOutbox } from '../workers/outbox-retention.ts'
import type { Reaction } from '../workers/reaction.ts'
import { accounts } from './accounts/module.ts'
import { alerts } from './alerts/module.ts'
import { approvals } from './approvals/module.ts'
import { billing } from './billing/module.ts'
import type { BillingDeps } from './billing/run/compute-invoice.ts'
import { catalog } from './catalog/module.ts'
import { coupons } from './coupons/module.ts'
import { customFieldsOf } from './custom-fields/module.ts'
import type { Module } from './define-module.ts'
import { ingestion } from './ingestion/module.ts'
import { invoices } from './invoices/module.ts'
import type { InvoiceProducer } from './invoices/producer.ts'
import { parties } from './parties/module.ts'
import { payments } from './payments/module.ts'
import { subscriptions } from './subscriptions/module.ts'
import { testClocks } from './test-clocks/module.ts'
import { wallets } from './wallets/module.ts'
import { webhooks } from './webhooks/module.ts'

// In the order of the interface.
const AFTER_CUSTOM_FIELDS = [
  catalog,
  coupons,
  subscriptions,
  invoices,
  billing,
  wallets,
  payments,
  ingestion,
  alerts,
  approvals,
  webhooks,
  testClocks,
  accounts,
] as const
const LISTED = [parties, customFieldsOf([parties, ...AFTER_CUSTOM_FIELDS]), ...AFTER_CUSTOM_FIELDS] as const
type Listed = (typeof LISTED)[number]

// What all of them together work with: what a function would take that passes its dependencies on to each.
type OfRoutes<M> = M extends Module<infer D, never> ? (deps: D) => void : never
type OfWork<M> = M extends Module<never, infer W> ? (deps: W) => void : never
type All<Takers> = [Takers] extends [(deps: infer Needed) => void] ? Needed : never
type RouteNeeds = All<OfRoutes<Listed>>
type WorkNeeds = All<OfWork<Listed>>

export const MODULES: readonly Module<RouteNeeds, WorkNeeds>[] = LISTED

/** Every resource. */
export const RESOURCES: readonly Resource[] = MODULES.flatMap(({ resources = [] }) => resources)

const TEST_CLOCK_SUBJECTS: readonly TestClockSubject[] = MODULES.flatMap(
  ({ resources = [], testClockSubjects = [] }) => [
    ...resources.flatMap(({ testClockOf, ...resource }) => (testClockOf == null ? [] : [{ ...resource, testClockOf }])),
    ...testClockSubjects,
  ],
)

/** What every change of a resource meets, in the api and in the worker. */
export const RULES: Rules = {
  guards: MODULES.flatMap(({ guards = [] }) => guards),
  effects: MODULES.flatMap(({ effects = [] }) => effects),
  extensions: MODULES.flatMap(({ extensions = [] }) => extensions),
  testClockSubjects: TEST_CLOCK_SUBJECTS,
}

/** Every event type, once: what a webhook may name, and what the audit trail tells of. */
export const EVENT_TYPES: readonly EventType[] = [
  ...new Set(MODULES.flatMap(({ events = [] }) => events.flatMap(eventTypesOf))),
].sort()

/** The shapes that events show of object types that are no resources, by object type. */
export const EVENT_SHAPES: Readonly<Record<string, string>> = Object.assign(
  {},
  ...MODULES.map(({ eventShapes }) => eventShapes),
)

/** Object types of what is no resource and has no events. */
export const OTHER_OBJECT_TYPES: readonly string[] = MODULES.flatMap(({ otherObjectTypes = [] }) => otherObjectTypes)

/** What operations of modules do beyond their summaries, by operation id. */
export const OPERATION_TEXTS: Readonly<Record<string, string>> = Object.assign(
  {},
  ...MODULES.map(({ operationTexts }) => operationTexts),
)

/** How the tenant tests call every route of the modules. */
export const ROUTE_FIXTURES: RouteFixtures = Object.assign({}, ...MODULES.map(({ fixtures }) => fixtures))

/** Everything that follows from a change inside the service. */
export const REACTIONS: readonly Reaction[] = MODULES.flatMap(({ reactions = [] }) => reactions)

/** Everyone who follows the outbox by a cursor of their own. */
export const CONSUMERS: readonly OutboxConsumer[] = MODULES.flatMap(({ consumers = [] }) => consumers)

/** Every background job of the worker: those of the modules, and those of what carries them. */
export const JOBS = [
  ...actionJobs<FinishDeps & WorkNeeds>(MODULES.flatMap(({ actions = [] }) => actions)),
  ...MODULES.flatMap(({ jobs = [] }) => jobs),
  expireKeys,
  expireOutbox(CONSUMERS),
] as const

/** Everything that makes invoices. */
export const invoiceProducers = (deps: BillingDeps): readonly InvoiceProducer[] =>
  MODULES.flatMap(({ producers }) => producers?.(deps) ?? [])

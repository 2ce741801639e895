// A module is one value: everything a folder of api/modules gives to the processes. The api's routes, the worker's jobs and the
// tests of every route follow from the list (api/modules/modules.ts).
import type { FastifyInstance } from 'fastify'
import type { EventDeclarations, EventType } from '../../shared/contracts/event-types.ts'
import type { Action } from '../http/actions/action.ts'
import type { DeclaredPermissions } from '../http/permissions.ts'
import type { RouteDeps } from '../http/route.ts'
import type { Job } from '../jobs/define-job.ts'
import type { Resource } from '../resource/define-resource.ts'
import type { RouteFixtures } from '../resource/routes/route-fixture.ts'
import type { Effect, Extension, Guard } from '../resource/rules.ts'
import type { TestClockSubject } from '../test-clock/test-clock-subject.ts'
import type { OutboxConsumer } from '../workers/outbox-consumer.ts'
import type { Reaction } from '../workers/reaction.ts'
import type { BillingDeps } from './billing/run/compute-invoice.ts'
import type { InvoiceProducer } from './invoices/producer.ts'

/** What the routes of every module are given besides what they name. */
export type ModuleRouteDeps = RouteDeps & {
  /** Every permission that some route needs. */
  readonly declared: DeclaredPermissions
  /** Every event type that some module emits. */
  readonly eventTypes: readonly EventType[]
}

/** A module whose routes work with `D`, and whose jobs and actions work with `W` in the worker. */
export type Module<D = ModuleRouteDeps, W = unknown> = {
  /** Its folder. */
  readonly name: string
  /** What its changes emit, and what the identity host emits for it. Nothing else passes the outbox. */
  readonly events?: readonly EventDeclarations[]
  /** By the object types of its events that are no resource of its own: the name of the shape that the API answers. */
  readonly eventShapes?: Readonly<Record<string, string>>
  /** Object types that its answers and refusals name, of what is no resource and has no events. */
  readonly otherObjectTypes?: readonly string[]
  /** Their shared operations are registered before `routes`. A resource that no module lists has no routes. */
  readonly resources?: readonly Resource[]
  /** What belongs to customers and is no resource: calls on it happen in the time of their test clocks (`testClockOf` of resources). */
  readonly testClockSubjects?: readonly TestClockSubject[]
  /** Object types besides its resources that have custom fields. */
  readonly withCustomFields?: readonly string[]
  /** What keeps others' resources, or its own, from being changed or deleted. Every change meets them. */
  readonly guards?: readonly Guard[]
  /** What follows changes of others' resources, or its own, in the same transaction. */
  readonly effects?: readonly Effect[]
  /** Where it takes part in what modules below compute. */
  readonly extensions?: readonly Extension[]
  /** Registers the calls that are more than the shared operations. */
  readonly routes?: (app: FastifyInstance, deps: D) => void | Promise<void>
  /** What the calls of `routes` do beyond their summaries, by operation id, where `api/description/operations` does not say it. */
  readonly operationTexts?: Readonly<Record<string, string>>
  /** How the tests of all tenants call each of `routes`. */
  readonly fixtures?: RouteFixtures
  /** Background jobs of the worker. One that no module lists never runs. */
  readonly jobs?: readonly Job<W, never>[]
  /** Actions with effects outside that `routes` begin: the worker finishes those that were left between. */
  readonly actions?: readonly Action<W, never>[]
  /** What follows from changes inside the service: jobs that they queue. One that no module lists never runs. */
  readonly reactions?: readonly Reaction[]
  /** Those who follow the outbox by a cursor of their own. One that no module lists never runs, and holds nothing back. */
  readonly consumers?: readonly OutboxConsumer[]
  /** What makes invoices, by what reads usage. */
  readonly producers?: (deps: BillingDeps) => readonly InvoiceProducer[]
}

/** Declares the module of a folder. */
export const defineModule = <D = ModuleRouteDeps, W = unknown>(module: Module<D, W>): Module<D, W> => module

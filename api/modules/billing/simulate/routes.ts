// The routes of simulations: start, list, read, cancel, and the differences of their customers.
import { eq } from 'drizzle-orm'
import type { FastifyInstance } from 'fastify'
import { decimal, plain } from '../../../../shared/decimal.ts'
import { amount, amountView } from '../../../../shared/money.ts'
import { IdParams } from '../../../http/params.ts'
import { type RouteDeps, readRoute, writeRoute } from '../../../http/route.ts'
import { listRoute } from '../../../list/list-route.ts'
import type { ListSpec } from '../../../list/list-spec.ts'
import { OneOf } from '../../../resource/shapes.ts'
import { RevenueLimits } from '../../catalog/as-code/revenue-gate.ts'
import { pricingPlanResource } from '../../catalog/pricing-plans/pricing-plan.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { SimulatedCustomerView, SimulationView } from './schema.ts'
import { cancelSimulation, getSimulation, simulationView } from './simulations.ts'
import { startSimulation } from './start-simulation.ts'
import {
  OUTCOMES,
  SIMULATION_STATUSES,
  type SimulatedCustomer,
  type Simulation,
  simulatedCustomers,
  versionSimulations,
} from './table.ts'

const PATH = '/v1/pricing-plan-version-simulations'
const VIEW = 'PRICING_PLAN_VERSION_SIMULATION.VIEW'
const tag = 'pricing-plan-version-simulations'

const SIMULATION_LIST: ListSpec = {
  table: versionSimulations,
  filters: {
    pricing_plan_id: { kind: 'equals', column: 'pricing_plan_id' },
    pricing_plan_version_id: { kind: 'equals', column: 'pricing_plan_version_id' },
    status: { kind: 'equals', column: 'status', schema: OneOf(...SIMULATION_STATUSES) },
    created_at: { kind: 'range', column: 'created_at' },
    updated_at: { kind: 'range', column: 'updated_at' },
  },
  names: { pricing_plan_id: () => pricingPlanResource },
  orderBy: ['created_at'],
  searchable: [],
  ranges: [],
}

const CUSTOMER_LIST: ListSpec = {
  table: simulatedCustomers,
  filters: {
    outcome: { kind: 'equals', column: 'outcome', schema: OneOf(...OUTCOMES) },
    status: { kind: 'equals', column: 'status', schema: OneOf('SCHEDULED', 'DONE', 'ERROR') },
    currency: { kind: 'equals', column: 'currency' },
    customer_id: { kind: 'equals', column: 'customer_id' },
  },
  names: { customer_id: () => customerResource },
  orderBy: ['difference', 'amount'],
  searchable: [],
  ranges: [],
}

export function simulationRoutes(app: FastifyInstance, deps: RouteDeps): void {
  writeRoute(app, deps, {
    tag,
    permission: 'PRICING_PLAN_VERSION_SIMULATION.CREATE',
    summary: 'Simulate a version: rate the last closed periods of the customers on its plan by it.',
    method: 'POST',
    url: '/v1/pricing-plan-versions/:id/simulate',
    status: 201,
    params: IdParams,
    body: RevenueLimits,
    response: SimulationView,
    handle: async (uow, { params, body }) => simulationView(await startSimulation(uow, params.id, body)),
  })
  listRoute<Simulation>(app, deps, {
    tag,
    permission: VIEW,
    summary: 'List simulations, newest first.',
    url: PATH,
    list: SIMULATION_LIST,
    item: SimulationView,
    views: rows => rows.map(simulationView),
  })
  readRoute(app, deps, {
    tag,
    permission: VIEW,
    summary: 'Read a simulation: its progress, and its result once it is finished.',
    method: 'GET',
    url: `${PATH}/:id`,
    params: IdParams,
    response: SimulationView,
    handle: async (uow, { params }) => simulationView(await getSimulation(uow, params.id)),
  })
  writeRoute(app, deps, {
    tag,
    permission: 'PRICING_PLAN_VERSION_SIMULATION.CREATE',
    summary: 'Cancel a simulation. One that is finished stays as it is.',
    method: 'POST',
    url: `${PATH}/:id/cancel`,
    status: 200,
    params: IdParams,
    response: SimulationView,
    handle: async (uow, { params }) => simulationView(await cancelSimulation(uow, params.id)),
  })
  listRoute<SimulatedCustomer>(app, deps, {
    tag,
    permission: VIEW,
    summary: 'List the customers of a simulation with what each was billed and would have been, line by line.',
    url: `${PATH}/:id/customers`,
    list: CUSTOMER_LIST,
    item: SimulatedCustomerView,
    of: async (uow, id) => eq(simulatedCustomers.simulation_id, (await getSimulation(uow, id)).id),
    views: rows => rows.map(customerView),
  })
}

function customerView(row: SimulatedCustomer) {
  const { id, customer_id, currency, status, outcome, message, invoices } = row
  const money = (text: string | null) => (text === null ? null : amountView(amount(plain(decimal(text)), currency)))
  return {
    object_type: 'SIMULATED_CUSTOMER',
    id,
    customer_id,
    currency,
    status,
    outcome,
    amount: money(row.amount),
    simulated_amount: money(row.simulated_amount),
    difference: money(row.difference),
    message,
    invoices,
  }
}

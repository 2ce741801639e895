import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import type { Id } from '../../../../shared/ids.ts'
import { decimalText, tenantColumns, timestamp, wireJson } from '../../../resource/columns.ts'
import type { SimulatedInvoice, SimulationResult } from './schema.ts'

export const SIMULATION_STATUSES = ['SCHEDULED', 'IN_PROGRESS', 'DONE', 'FAILED', 'CANCELLED', 'ERROR'] as const
export type SimulationStatus = (typeof SIMULATION_STATUSES)[number]

export const versionSimulations = pgTable('pricing_plan_version_simulations', {
  ...tenantColumns<'ppsi'>(),
  pricing_plan_id: text().$type<Id<'pric'>>().notNull(),
  pricing_plan_version_id: text().$type<Id<'ppve'>>(),
  catalog_reference: text(),
  periods: integer().notNull(),
  max_revenue_change: decimalText(),
  max_customer_increase: decimalText(),
  status: text().$type<SimulationStatus>().notNull(),
  percentage: integer().notNull(),
  message: text(),
  result: wireJson<SimulationResult>(),
  fingerprint: text().notNull(),
  catalog: text().notNull(),
  finished_at: timestamp(),
})

export type StoredSimulation = typeof versionSimulations.$inferSelect
/** A simulation without what its version sells, which is nearly all of its size. */
export type Simulation = Omit<StoredSimulation, 'catalog'>

export const OUTCOMES = ['WINNER', 'LOSER', 'UNCHANGED'] as const
export type Outcome = (typeof OUTCOMES)[number]

export const simulatedCustomers = pgTable('simulated_customers', {
  platform_id: text().notNull(),
  environment: text().$type<'TEST' | 'LIVE'>().notNull(),
  id: text().notNull(),
  simulation_id: text().$type<Id<'ppsi'>>().notNull(),
  customer_id: text().$type<Id<'cust'>>().notNull(),
  currency: text().notNull(),
  invoice_ids: wireJson<readonly string[]>().notNull(),
  status: text().$type<'SCHEDULED' | 'DONE' | 'ERROR'>().notNull(),
  outcome: text().$type<Outcome>(),
  amount: decimalText(),
  simulated_amount: decimalText(),
  difference: decimalText(),
  message: text(),
  invoices: wireJson<readonly SimulatedInvoice[]>(),
})

export type SimulatedCustomer = typeof simulatedCustomers.$inferSelect

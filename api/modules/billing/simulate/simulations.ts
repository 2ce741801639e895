// Simulations as rows: created, read, cancelled, and shown with their progress.
import { createHash } from 'node:crypto'
import { and, eq, getTableColumns } from 'drizzle-orm'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idOf, newId } from '../../../../shared/ids.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { emit } from '../../../outbox.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import type { RevenueLimits } from '../../catalog/as-code/revenue-gate.ts'
import type { CatalogInputs } from '../terms/load/load-catalog.ts'
import type { Candidate } from './candidate.ts'
import { type Simulation, type StoredSimulation, versionSimulations as table } from './table.ts'

const OBJECT_TYPE = 'PRICING_PLAN_VERSION_SIMULATION'
const PERIODS = 1
const { catalog: _catalog, ...COLUMNS } = getTableColumns(table)

export type NewSimulation = {
  readonly candidate: Candidate
  readonly limits: RevenueLimits
  /** The version of a catalog file; then the version itself may not be stored. */
  readonly file: { readonly reference: string; readonly isStored: boolean; readonly hash: string } | null
}

/** Saves a simulation, which a job then runs. Emits PRICING_PLAN_VERSION_SIMULATION.CREATED. */
export async function createSimulation(uow: Uow, of: NewSimulation): Promise<Simulation> {
  const { candidate, limits, file } = of
  const { platformId: platform_id, environment } = uow.tenant
  const now = formatInstant(uow.now)
  const isStored = file === null || file.isStored
  const row: StoredSimulation = {
    platform_id,
    environment,
    id: newId('ppsi'),
    created_at: now,
    updated_at: now,
    pricing_plan_id: idOf('pric', candidate.planId),
    pricing_plan_version_id: idOf('ppve', isStored ? candidate.versionId : null),
    catalog_reference: file?.reference ?? null,
    periods: limits.periods ?? PERIODS,
    max_revenue_change: limits.max_revenue_change ?? null,
    max_customer_increase: limits.max_customer_increase ?? null,
    status: 'SCHEDULED',
    percentage: 0,
    message: null,
    result: null,
    fingerprint: fingerprintOf(of),
    catalog: JSON.stringify(candidate.catalog),
    finished_at: null,
  }
  await uow.tx.insert(table).values(row)
  await emit(uow, {
    type: 'PRICING_PLAN_VERSION_SIMULATION.CREATED',
    objectId: row.id,
    data: simulationView(row),
    previous: null,
  })
  return row
}

/** The same text for the same question. */
export function fingerprintOf({ candidate, limits, file }: NewSimulation): string {
  const { periods, max_revenue_change: change, max_customer_increase: increase } = limits
  const version = file ? [file.hash, file.reference] : [candidate.versionId]
  const text = JSON.stringify([candidate.planId, ...version, periods ?? PERIODS, change ?? null, increase ?? null])
  return createHash('sha256').update(text).digest('hex')
}

/** Throws RESOURCE_NOT_FOUND. */
export async function getSimulation(uow: ReadUow, id: string): Promise<Simulation> {
  const [row] = await uow.tx
    .select(COLUMNS)
    .from(table)
    .where(and(inThisTenant(uow, table), eq(table.id, id as Simulation['id'])))
  if (row) return row
  throw new AppError('RESOURCE_NOT_FOUND', `There is no ${OBJECT_TYPE} ${JSON.stringify(id)}.`, {
    resourceType: OBJECT_TYPE,
  })
}

/** Locked until commit; null when there is none. */
export async function lockSimulation(uow: Uow, id: string): Promise<Simulation | null> {
  const [row] = await uow.tx
    .select(COLUMNS)
    .from(table)
    .where(and(inThisTenant(uow, table), eq(table.id, id as Simulation['id'])))
    .for('update')
  return row ?? null
}

/** The version that a simulation rates by, as it was when the simulation was created. */
export async function candidateOf(uow: ReadUow, { id, pricing_plan_id, pricing_plan_version_id }: Simulation) {
  const [row] = await uow.tx
    .select({ catalog: table.catalog })
    .from(table)
    .where(and(inThisTenant(uow, table), eq(table.id, id)))
  const catalog: CatalogInputs = JSON.parse(row?.catalog ?? '{}')
  const [pricing] = catalog.pricings
  const versionId = pricing?.pricing_plan_version_id ?? pricing_plan_version_id ?? ''
  return { planId: pricing_plan_id, versionId, catalog } satisfies Candidate
}

/** Saves a change of status. Emits PRICING_PLAN_VERSION_SIMULATION.UPDATED. */
export async function moveSimulation(
  uow: Uow,
  row: Simulation,
  values: Partial<Pick<Simulation, 'status' | 'percentage' | 'message' | 'result' | 'finished_at'>>,
): Promise<Simulation> {
  const changed = { ...row, ...values, updated_at: formatInstant(uow.now) }
  await uow.tx
    .update(table)
    .set({ ...values, updated_at: changed.updated_at })
    .where(and(inThisTenant(uow, table), eq(table.id, row.id)))
  const [data, previous] = [simulationView(changed), simulationView(row)]
  await emit(uow, { type: 'PRICING_PLAN_VERSION_SIMULATION.UPDATED', objectId: row.id, data, previous })
  return changed
}

export const isFinished = ({ finished_at }: Pick<Simulation, 'finished_at'>): boolean => finished_at !== null

/** Stops a simulation; one that has ended stays as it is. Throws RESOURCE_NOT_FOUND. */
export async function cancelSimulation(uow: Uow, id: string): Promise<Simulation> {
  const row = await lockSimulation(uow, id)
  if (!row) return await getSimulation(uow, id)
  if (isFinished(row)) return row
  return await moveSimulation(uow, row, { status: 'CANCELLED', finished_at: formatInstant(uow.now) })
}

/** A simulation as the API shows it. */
export function simulationView({
  platform_id: _platform,
  environment: _environment,
  fingerprint: _fingerprint,
  ...row
}: Simulation) {
  const { catalog: _catalogOf, ...shown } = row as typeof row & { catalog?: string }
  return { object_type: OBJECT_TYPE, ...shown }
}

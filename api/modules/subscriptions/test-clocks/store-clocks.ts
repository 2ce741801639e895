// Test clocks as they are stored: made, read, and given customers.
import { and, asc, eq, inArray, isNull, or } from 'drizzle-orm'
import type { ReadUow, Uow } from '../../../../shared/database/database.ts'
import { AppError } from '../../../../shared/errors.ts'
import { type Id, newId } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { formatInstant } from '../../../../shared/time.ts'
import { lockOne, notFound } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { subscriptions } from '../table.ts'
import { type TestClock, testClockCustomers, testClocks } from './table.ts'

/** How many customers one clock has: `advance` does all that is due of them before it answers. */
const CUSTOMERS_MAX = 100

/** A clock as the API shows it. */
export async function viewOfClock(uow: ReadUow, clock: TestClock): Promise<Record<string, unknown>> {
  const { advancing_until, platform_id: _platform, environment: _environment, ...shown } = clock
  const isAdvancing = advancing_until !== null && advancing_until > formatInstant(uow.now)
  return {
    object_type: 'TEST_CLOCK',
    ...shown,
    status: isAdvancing ? 'ADVANCING' : 'READY',
    customer_ids: await customersOf(uow, clock.id),
  }
}

export async function customersOf(uow: ReadUow, clockId: string): Promise<string[]> {
  const rows = await uow.tx
    .select({ id: testClockCustomers.customer_id })
    .from(testClockCustomers)
    .where(and(inThisTenant(uow, testClockCustomers), eq(testClockCustomers.test_clock_id, clockId)))
    .orderBy(asc(testClockCustomers.customer_id))
  return rows.map(({ id }) => id)
}

export const listClocks = (uow: ReadUow): Promise<TestClock[]> =>
  uow.tx
    .select()
    .from(testClocks)
    .where(inThisTenant(uow, testClocks))
    .orderBy(asc(testClocks.created_at), asc(testClocks.id))

/** The clock, held with `lock` until commit. Throws RESOURCE_NOT_FOUND. */
export async function getClock(uow: ReadUow, id: string, { lock }: { readonly lock: boolean }): Promise<TestClock> {
  const query = uow.tx
    .select()
    .from(testClocks)
    .where(and(inThisTenant(uow, testClocks), eq(testClocks.id, id)))
  const [clock] = await (lock ? query.for('update') : query)
  if (clock) return clock
  throw new AppError('RESOURCE_NOT_FOUND', `There is no TEST_CLOCK ${JSON.stringify(id)}.`, {
    resourceId: id,
  })
}

/**
 * Stores where a clock stands, and until when an advance of it counts as under way; nothing, and false, where that is no longer what it was,
 * `since`.
 */
export async function moveClock(
  uow: Uow,
  clockId: string,
  values: { readonly frozen_time?: string; readonly advancing_until: string | null },
  since: string | null,
): Promise<boolean> {
  const isAsItWas = since === null ? isNull(testClocks.advancing_until) : eq(testClocks.advancing_until, since)
  const moved = await uow.tx
    .update(testClocks)
    .set(values)
    .where(and(inThisTenant(uow, testClocks), eq(testClocks.id, clockId), isAsItWas))
    .returning({ id: testClocks.id })
  return moved.length > 0
}

export type NewClock = {
  readonly name?: string | null
  readonly frozen_time: string
  readonly customer_ids?: readonly string[]
}

/** Creates a clock. Throws INVALID_OPERATION in LIVE, where time cannot be turned. */
export async function createClock(uow: Uow, body: NewClock): Promise<TestClock> {
  requireTest(uow.tenant)
  const clock: TestClock = {
    platform_id: uow.tenant.platformId,
    environment: uow.tenant.environment,
    id: newId('tclk'),
    created_at: formatInstant(uow.now),
    name: body.name ?? null,
    frozen_time: body.frozen_time,
    advancing_until: null,
  }
  await uow.tx.insert(testClocks).values(clock)
  if (body.customer_ids) await attach(uow, clock, body.customer_ids)
  return clock
}

function requireTest({ environment }: Tenant): void {
  if (environment === 'TEST') return
  throw new AppError('INVALID_OPERATION', 'Test clocks are there in TEST alone; use a key of that environment.')
}

/** Has customers live in the time of a clock. Throws for one that has billed already, or that lives by another clock. */
export async function attachCustomers(uow: Uow, clockId: string, customerIds: readonly string[]): Promise<TestClock> {
  const clock = await getClock(uow, clockId, { lock: true })
  await attach(uow, clock, customerIds)
  return clock
}

async function attach(uow: Uow, clock: TestClock, given: readonly string[]): Promise<void> {
  const known = await customersOf(uow, clock.id)
  for (const [index, name] of given.entries()) {
    const field = `customer_ids.${index}`
    const customer = await lockOne(uow, customerResource, name)
    if (!customer) throw notFound(customerResource, name, field)
    if (known.includes(customer.id)) continue
    if (known.length >= CUSTOMERS_MAX)
      throw new AppError('INVALID_FIELD', `A clock has ${CUSTOMERS_MAX} customers at most; create another.`, { field })
    await requireNew(uow, customer.id, field)
    await uow.tx.insert(testClockCustomers).values({
      platform_id: uow.tenant.platformId,
      environment: uow.tenant.environment,
      customer_id: customer.id,
      test_clock_id: clock.id,
    })
    known.push(customer.id)
  }
}

/** What a customer has been billed so far was billed in another time. The caller holds the customer. */
async function requireNew(uow: Uow, customerId: Id<'cust'>, field: string): Promise<void> {
  const [other] = await uow.tx
    .select({ id: testClockCustomers.test_clock_id })
    .from(testClockCustomers)
    .where(and(inThisTenant(uow, testClockCustomers), eq(testClockCustomers.customer_id, customerId)))
  if (other) throw new AppError('INVALID_FIELD', `The customer lives by the test clock ${other.id} already.`, { field })
  const [active] = await uow.tx
    .select({ id: subscriptions.id })
    .from(subscriptions)
    .where(
      and(
        inThisTenant(uow, subscriptions),
        or(eq(subscriptions.customer_id, customerId), eq(subscriptions.forward_customer_id, customerId)),
        inArray(subscriptions.status, ['ACTIVE', 'CANCELLED']),
      ),
    )
    .limit(1)
  if (!active) return
  const message = `Its subscription ${active.id} has been activated in another time; attach a customer before its first subscription is ACTIVE.`
  throw new AppError('INVALID_FIELD', message, { field })
}

// Tops up wallets whose open balance is below their threshold, each once: the charge, its grant and what is kept of it
// commit together, under the lock of the configuration.
import { and, eq, gt, inArray, isNotNull, sql } from 'drizzle-orm'
import {
  type Database,
  inTenant,
  type ReadUow,
  readTenant,
  SERVICE,
  type Uow,
} from '../../../../shared/database/database.ts'
import { decimal, sum } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import type { Failpoints } from '../../../../shared/failpoint.ts'
import type { Id } from '../../../../shared/ids.ts'
import type { Tenant } from '../../../../shared/tenant.ts'
import { at } from '../../../../shared/time.ts'
import { saveChange } from '../../../resource/commands.ts'
import { getOne, lockOne } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { inTimeOf } from '../../../test-clock/test-clock.ts'
import { billOnDemand } from '../../billing/on-demand/charge-on-demand.ts'
import { invoices } from '../../invoices/table.ts'
import type { EngineDeps } from '../../invoices/tax/answers/query-engine.ts'
import { withTaxAnswers } from '../../invoices/tax/answers/with-answers.ts'
import { loadLiveAccounts } from '../ledger/load-accounts.ts'
import { wallets } from '../table.ts'
import { walletResource } from '../wallet.ts'
import { autoTopUpResource } from './auto-top-up-config.ts'
import { nextAttemptAt } from './back-off.ts'
import { checkItem } from './check-config.ts'
import { orderOf } from './order-of-config.ts'
import { type AutoTopUpConfig, autoTopUpConfigs } from './table.ts'

export type TopUpDeps = EngineDeps & { readonly database: Database; readonly failpoint?: Failpoints | undefined }

/**
 * Tops up every wallet of the tenant that is due, or with a test clock those of its customers. A top-up that fails holds
 * up no other; then it throws the first fault.
 */
export async function topUpWallets(deps: TopUpDeps, tenant: Tenant, clockId: string | null = null): Promise<void> {
  const active = await readTenant(deps.database, tenant, uow => activeConfigs(uow, clockId))
  const faults: unknown[] = []
  for (const config of active)
    await inTimeOf(deps.database, tenant, [config.wallet_id], () => topUp(deps, tenant, config)).catch(
      (fault: unknown) => faults.push(fault),
    )
  if (faults.length > 0) throw faults[0]
}

const activeConfigs = (uow: ReadUow, clockId: string | null): Promise<AutoTopUpConfig[]> =>
  uow.tx
    .select()
    .from(autoTopUpConfigs)
    .where(
      and(
        inThisTenant(uow, autoTopUpConfigs),
        eq(autoTopUpConfigs.status, 'ACTIVE'),
        clockId === null ? undefined : inArray(autoTopUpConfigs.wallet_id, walletsOfClock(uow, clockId)),
      ),
    )
    .orderBy(autoTopUpConfigs.id)

const walletsOfClock = ({ tx, tenant }: ReadUow, clockId: string) =>
  tx
    .select({ id: wallets.id })
    .from(wallets)
    .where(
      and(
        eq(wallets.platform_id, tenant.platformId),
        eq(wallets.environment, tenant.environment),
        sql`${wallets.customer_id} in (select m.customer_id from test_clock_customers m where m.platform_id = ${tenant.platformId}
          and m.environment = ${tenant.environment} and m.test_clock_id = ${clockId})`,
      ),
    )

/**
 * Charges one top-up if it is due now, and returns the id of its invoice; null when it is not due. A charge that is
 * refused is kept as a failure, and tried again later.
 */
export async function topUp(
  deps: TopUpDeps,
  tenant: Tenant,
  { id }: Pick<AutoTopUpConfig, 'id'>,
): Promise<string | null> {
  try {
    const charge = async (uow: Uow): Promise<string | null> => {
      const config = await lockOne(uow, autoTopUpResource, id)
      if (!config || !(await isDue(uow, config))) return null
      await checkItem(uow, config)
      const invoice = await billOnDemand(uow, { ...orderOf(config), finalize_immediately: true })
      await saveChange(uow, autoTopUpResource, config, {
        last_invoice_id: invoice.id,
        failed_attempts: 0,
        last_failure: null,
        next_attempt_at: null,
      })
      await deps.failpoint?.('top-ups.before-commit')
      return invoice.id
    }
    return await withTaxAnswers(deps, tenant, () => inTenant(deps.database, tenant, SERVICE, charge))
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error
    await inTenant(deps.database, tenant, SERVICE, uow => saveFailure(uow, id, error.message))
    return null
  }
}

async function isDue(uow: Uow, config: AutoTopUpConfig): Promise<boolean> {
  const { status, next_attempt_at: next, wallet_id, threshold_quantity } = config
  if (status !== 'ACTIVE' || (next !== null && at(next) > uow.now)) return false
  // What is bought for a wallet that takes no grants, or is not spent, would never raise its balance.
  if ((await getOne(uow, walletResource, wallet_id)).status !== 'ACTIVE') return false
  if (await isInFlight(uow, wallet_id)) return false
  const grants = await loadLiveAccounts(uow, [wallet_id])
  const open = grants.filter(
    ({ start_at, expire_at, is_reverted }) =>
      !is_reverted && at(start_at) <= uow.now && (expire_at === null || at(expire_at) > uow.now),
  )
  return sum(open.map(grant => decimal(grant.open))).lt(decimal(threshold_quantity))
}

/** Whether a top-up of the wallet is still to be paid: a customer who does not pay gets no second one. */
async function isInFlight(uow: Uow, walletId: Id<'wall'>): Promise<boolean> {
  const c = autoTopUpConfigs
  const [unpaid] = await uow.tx
    .select({ id: invoices.id })
    .from(c)
    .innerJoin(invoices, and(inThisTenant(uow, invoices), eq(invoices.id, c.last_invoice_id)))
    .where(
      and(
        inThisTenant(uow, c),
        eq(c.wallet_id, walletId),
        isNotNull(c.last_invoice_id),
        eq(invoices.status, 'FINAL'),
        inArray(invoices.payment_status, ['UNPAID', 'PARTIALLY_PAID']),
        // One of 0.00 stays UNPAID, and nothing of it can be paid.
        gt(invoices.amount_including_tax, invoices.credited_amount),
      ),
    )
    .limit(1)
  return unpaid !== undefined
}

async function saveFailure(uow: Uow, id: string, message: string): Promise<void> {
  const config = await lockOne(uow, autoTopUpResource, id)
  // Another worker that failed as well has counted it.
  if (config?.status !== 'ACTIVE' || (config.next_attempt_at !== null && at(config.next_attempt_at) > uow.now)) return
  const failed_attempts = config.failed_attempts + 1
  await saveChange(uow, autoTopUpResource, config, {
    failed_attempts,
    last_failure: message,
    next_attempt_at: nextAttemptAt(failed_attempts, uow.now),
  })
}

// The routes for the balance, the transactions and the forecast of a wallet.
import { and, asc, eq, ne } from 'drizzle-orm'
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { ReadUow } from '../../../../shared/database/database.ts'
import { formatInstant, type Instant, parseInstant } from '../../../../shared/time.ts'
import { PageOf } from '../../../http/pagination.ts'
import { IdParams } from '../../../http/params.ts'
import { type RouteDeps, readRoute } from '../../../http/route.ts'
import { pageQuery } from '../../../list/list-page.ts'
import { Nullable, Optional, Shape, Timestamp } from '../../../resource/shapes.ts'
import { getOne } from '../../../resource/store.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import { WalletBalanceValue } from '../../catalog/credit-types/schema.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import { OverGranted } from '../schema.ts'
import { wallets } from '../table.ts'
import { walletResource } from '../wallet.ts'
import { FORECAST_DAYS, loadForecast } from './forecast.ts'
import { loadBalances } from './load-balances.ts'
import { listTransactions, TRANSACTION_LIST, WalletTransaction } from './transactions.ts'

const BalanceBody = Shape({ balance_at: Optional(Nullable(Timestamp)) })

const balanceParts = {
  balance: Nullable(WalletBalanceValue),
  reserved_balance: Nullable(WalletBalanceValue),
  open_balance: Nullable(WalletBalanceValue),
  over_granted: Optional(OverGranted),
}
const CustomerDetail = Type.Object(
  { customer_id: Type.String(), ...balanceParts },
  { title: 'WalletBalanceCustomerDetail' },
)
const BalanceStatus = Type.Object(
  {
    ...balanceParts,
    customer_details: Optional(Type.Array(CustomerDetail)),
    balance_at: Timestamp,
  },
  { title: 'WalletBalanceStatus' },
)
const CustomerBalances = Type.Object(
  {
    wallet_balances: Type.Array(
      Type.Object(
        { wallet_id: Type.String(), wallet_balance: BalanceStatus },
        { title: 'CustomerWalletBalanceStatus' },
      ),
    ),
    balance_at: Timestamp,
  },
  { title: 'CustomerWalletBalancesStatus' },
)
const Forecast = Type.Object(
  {
    wallet_id: Type.String(),
    open_balance: Nullable(WalletBalanceValue),
    forecasts: Type.Array(
      Type.Object(
        {
          days: Type.Integer({
            description: `The number of past days that the rate covers: ${FORECAST_DAYS.join(' or ')} days.`,
          }),
          used_balance: Nullable(WalletBalanceValue),
          ends_at: Nullable(Timestamp),
        },
        { title: 'WalletForecast' },
      ),
    ),
  },
  { title: 'WalletForecasts' },
)

/** The time of the requested balance; now when the body gives none. The body may be left out. */
const timeOf = (uow: ReadUow, body: { balance_at?: string | null } | null | undefined): Instant =>
  (typeof body?.balance_at === 'string' ? parseInstant(body.balance_at) : null) ?? uow.now

export function balanceRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const about = { permission: 'WALLET.VIEW', tag: walletResource.path, params: IdParams } as const
  readRoute(app, deps, {
    ...about,
    summary: 'Read the balance of a wallet now or at another time.',
    method: 'POST',
    url: '/v1/wallets/:id/balance',
    body: BalanceBody,
    response: BalanceStatus,
    handle: async (uow, { params, body }) => {
      const wallet = await getOne(uow, walletResource, params.id)
      const [balance] = await loadBalances(uow, [wallet], timeOf(uow, body))
      return balance?.status
    },
  })
  readRoute(app, deps, {
    ...about,
    tag: customerResource.path,
    summary: 'Read the balances of the wallets of a customer now or at another time.',
    method: 'POST',
    url: '/v1/customers/:id/wallets/balance',
    body: BalanceBody,
    response: CustomerBalances,
    handle: async (uow, { params, body }) => {
      const customer = await getOne(uow, customerResource, params.id)
      const at = timeOf(uow, body)
      const own = await uow.tx
        .select()
        .from(wallets)
        .where(and(inThisTenant(uow, wallets), eq(wallets.customer_id, customer.id), ne(wallets.status, 'ARCHIVED')))
        .orderBy(asc(wallets.created_at), asc(wallets.id))
      const balances = await loadBalances(uow, own, at)
      return {
        wallet_balances: balances.map(({ wallet, status }) => ({ wallet_id: wallet.id, wallet_balance: status })),
        balance_at: formatInstant(at),
      }
    },
  })
  readRoute(app, deps, {
    ...about,
    summary: 'List what moved in a wallet: who did what, when and why.',
    method: 'GET',
    url: '/v1/wallets/:id/transactions',
    query: pageQuery(TRANSACTION_LIST),
    response: PageOf(WalletTransaction),
    handle: async (uow, { params, query }) =>
      await listTransactions(uow, await getOne(uow, walletResource, params.id), query),
  })
  readRoute(app, deps, {
    ...about,
    summary: 'Read when a wallet runs out at the rate of the last 7 and the last 30 days.',
    method: 'GET',
    url: '/v1/wallets/:id/forecast',
    response: Forecast,
    handle: async (uow, { params }) => await loadForecast(uow, await getOne(uow, walletResource, params.id)),
  })
}

// Wallets: what one customer holds of one wallet type (semantics 6).
import { and, eq, ne } from 'drizzle-orm'
import type { Uow } from '../../../shared/database/database.ts'
import { plain, ZERO } from '../../../shared/decimal.ts'
import { AppError } from '../../../shared/errors.ts'
import { defineResource, field, PAUSABLE_RULES, type Resource } from '../../resource/define-resource.ts'
import { IdText, PausableStatus, Reference } from '../../resource/shapes.ts'
import { getOne } from '../../resource/store.ts'
import { inThisTenant } from '../../resource/tenant-condition.ts'
import { whyGone } from '../parties/customers/customer-status.ts'
import { customerResource } from '../parties/customers/resource.ts'
import { reservedOf } from './ledger/load-accounts.ts'
import { lockNewWallets } from './ledger/lock-wallets.ts'
import { type Wallet, wallets } from './table.ts'
import { walletTypeResource } from './wallet-type.ts'

export const walletResource: Resource<Wallet> = defineResource<Wallet>({
  objectType: 'WALLET',
  shapeName: 'Wallet',
  idPrefix: 'wall',
  path: 'wallets',
  table: wallets,
  fields: {
    reference: field(Reference, { create: 'required', change: 'never' }),
    status: field(PausableStatus),
    wallet_type_id: field(IdText('wallet type'), { create: 'required', change: 'never' }),
    customer_id: field(IdText('customer'), { create: 'required', change: 'never' }),
  },
  operations: ['create', 'list', 'get', 'activate', 'deactivate', 'deprecate', 'archive'],
  byReference: true,
  testClockOf: 'customer_id',
  statuses: PAUSABLE_RULES,
  orderBy: ['reference'],
  filters: {
    customer_id: { kind: 'equals', column: 'customer_id' },
    wallet_type_id: { kind: 'equals', column: 'wallet_type_id' },
  },
  references: { wallet_type_id: () => walletTypeResource, customer_id: () => customerResource },
  expand: {
    wallet_type: { by: 'wallet_type_id', to: () => walletTypeResource },
    customer: { by: 'customer_id', to: () => customerResource },
  },
  check: async (uow, row, previous) => {
    if (previous === null) {
      await lockNewWallets(uow, row.customer_id)
      await checkOwners(uow, row)
      await refuseSecond(uow, row)
    }
    if (previous !== null && row.status === 'ARCHIVED') await refuseWhileReserved(uow, row)
  },
  fixture: {
    create: async seed => ({
      reference: seed.unique('wallet'),
      status: 'ACTIVE',
      wallet_type_id: (await seed.make(walletTypeResource)).id,
      customer_id: (await seed.make(customerResource)).id,
    }),
    update: null,
  },
})

/** Throws INVALID_FIELD for a wallet type or a customer that accepts no new wallet. */
async function checkOwners(uow: Uow, { wallet_type_id, customer_id }: Wallet): Promise<void> {
  const type = await getOne(uow, walletTypeResource, wallet_type_id)
  if (type.status === 'DEPRECATED' || type.status === 'ARCHIVED') {
    const message = `The wallet type is ${type.status} and takes no new wallets; choose another.`
    throw new AppError('INVALID_FIELD', message, { field: 'wallet_type_id' })
  }
  const gone = whyGone(await getOne(uow, customerResource, customer_id))
  if (!gone) return
  const message = `The customer is ${gone}; it can have no new wallet.`
  throw new AppError('INVALID_FIELD', message, { field: 'customer_id' })
}

/** Throws RESOURCE_ALREADY_EXISTS when the customer has a wallet of the type that is not ARCHIVED; the index refuses two at once. */
async function refuseSecond(uow: Uow, { wallet_type_id, customer_id }: Wallet): Promise<void> {
  const isOfBoth = and(eq(wallets.wallet_type_id, wallet_type_id), eq(wallets.customer_id, customer_id))
  const [there] = await uow.tx
    .select({ id: wallets.id })
    .from(wallets)
    .where(and(inThisTenant(uow, wallets), isOfBoth, ne(wallets.status, 'ARCHIVED')))
  if (!there) return
  const message = `The customer has a wallet of this type already: ${there.id}. Use that one, or archive it first.`
  const about = { field: 'wallet_type_id', resourceId: there.id, resourceType: 'WALLET' }
  throw new AppError('RESOURCE_ALREADY_EXISTS', message, about)
}

async function refuseWhileReserved(uow: Uow, { id }: Wallet): Promise<void> {
  const reserved = await reservedOf(uow, id)
  if (reserved.eq(ZERO)) return
  const message = `${plain(reserved)} of the wallet is reserved; commit or release it before you archive the wallet.`
  throw new AppError('INVALID_OPERATION', message, { field: 'status', resourceId: id, resourceType: 'WALLET' })
}

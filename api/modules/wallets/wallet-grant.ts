// Wallet grants: what was put into a wallet, until when it may be spent, and what was paid for it (contract: Wallet
// grants and balances). Reverting is the only change of a grant; its spending is recorded in the ledger.
import { defineResource, type Resource, readOnly } from '../../resource/define-resource.ts'
import { Amount, Description, IdText, OneOf, Timestamp } from '../../resource/shapes.ts'
import { Credits } from '../catalog/credit-types/schema.ts'
import { billingEntityResource } from '../parties/billing-entities/billing-entity.ts'
import { customerResource } from '../parties/customers/resource.ts'
import { GrantSeat, GrantSource, OverGranted, RevertReasonText } from './schema.ts'
import { type WalletGrant, walletGrants } from './table.ts'
import { walletResource } from './wallet.ts'

/** Creating and reverting have routes of their own (grants/routes.ts), because they post to the ledger. */
export const walletGrantResource: Resource<WalletGrant> = defineResource<WalletGrant>({
  objectType: 'WALLET_GRANT',
  shapeName: 'WalletGrant',
  idPrefix: 'wgra',
  path: 'wallet-grants',
  table: walletGrants,
  fields: {
    customer_id: readOnly(IdText('customer')),
    billing_entity_id: readOnly(IdText('billing entity')),
    wallet_id: readOnly(IdText('wallet')),
    type: readOnly(OneOf('DEFAULT', 'PROMOTION')),
    description: readOnly(Description),
    grant_amount: readOnly(Amount),
    grant_credits: readOnly(Credits),
    paid_amount: readOnly(Amount),
    start_at: readOnly(Timestamp),
    expire_at: readOnly(Timestamp),
    source: readOnly(GrantSource),
    seat: readOnly(GrantSeat),
    over_granted: readOnly(OverGranted),
    reverted_at: readOnly(Timestamp),
    revert_reason: readOnly(RevertReasonText),
  },
  operations: ['list', 'get'],
  byReference: false,
  testClockOf: 'customer_id',
  filters: {
    customer_id: { kind: 'equals', column: 'customer_id' },
    wallet_id: { kind: 'equals', column: 'wallet_id' },
  },
  orderBy: ['start_at', 'expire_at'],
  expand: {
    customer: { by: 'customer_id', to: () => customerResource },
    wallet: { by: 'wallet_id', to: () => walletResource },
  },
  fixture: {
    create: async seed => {
      const wallet = await seed.make(walletResource)
      const { id: billing_entity_id } = await seed.make(billingEntityResource)
      const { id: wallet_id, customer_id } = wallet
      return { customer_id, billing_entity_id, wallet_id, grant_amount: { quantity: '100', currency: 'EUR' } }
    },
    update: null,
  },
})
